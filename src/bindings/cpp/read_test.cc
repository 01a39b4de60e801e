// Reads results as other types, and overrides batch sizes, through the public API only.
#include <gtest/gtest.h>

#include "tern/tern.hpp"

namespace {

// A minimal protobuf writer for models of one node.
std::string Varint(uint64_t v) {
  std::string out;
  for (; v >= 128; v >>= 7) out += static_cast<char>(v | 128);
  return out + static_cast<char>(v);
}
std::string Number(int field, uint64_t v) { return Varint(static_cast<uint64_t>(field) << 3) + Varint(v); }
std::string Bytes(int field, const std::string& v) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(v.size()) + v;
}

std::string Info(const std::string& name, int type, const std::vector<uint64_t>& dims) {
  std::string shape;
  for (const uint64_t d : dims) shape += Bytes(1, Number(1, d));
  return Bytes(1, name) + Bytes(2, Bytes(1, Number(1, static_cast<uint64_t>(type)) + Bytes(2, shape)));
}

std::string Model(const std::string& graph) {
  return Number(1, 8) + Bytes(8, Number(2, 17)) + Bytes(7, graph);
}

std::string IdentityOf(int type) {
  return Model(Bytes(1, Bytes(1, "x") + Bytes(2, "y") + Bytes(4, "Identity")) + Bytes(2, "g") +
               Bytes(11, Info("x", type, {2})) + Bytes(12, Info("y", type, {2})));
}

// Returns the model y = Reshape(x, shape) with the input x f32[1,2,2].
std::string ReshapeTo(const std::vector<int64_t>& shape) {
  std::string values;
  for (const int64_t v : shape) values += Varint(static_cast<uint64_t>(v));
  const std::string target = Number(1, shape.size()) + Number(2, 7) + Bytes(7, values) + Bytes(8, "s");
  return Model(
      Bytes(1, Bytes(1, "x") + Bytes(1, "s") + Bytes(2, "y") + Bytes(3, "flat") + Bytes(4, "Reshape")) +
      Bytes(2, "g") + Bytes(5, target) + Bytes(11, Info("x", 1, {1, 2, 2})) + Bytes(12, Info("y", 1, {})));
}

tern::Result<tern::Predictor> Load(const std::string& bytes, int64_t batch = 0) {
  return tern::Predictor::Create(tern::Config().model_buffer(bytes.data(), bytes.size()).batch(batch));
}

// Runs an Identity model on elements of type From (ONNX type number `type`) and reads the result as type To.
template <class From, class To> std::vector<To> Through(int type, const std::vector<From>& x) {
  auto p = Load(IdentityOf(type));
  EXPECT_TRUE(p.ok()) << p.status().message();
  if (!p.ok()) return {};
  EXPECT_TRUE(p->Input(0).CopyFrom(x, {2}).ok());
  EXPECT_TRUE(p->Run().ok());
  return p->Output(0).ToVector<To>();
}

TEST(Read, ConvertsWhatIsHeldExactly) {
  EXPECT_EQ((Through<float, double>(1, {0.1f, -3})), (std::vector<double>{0.1f, -3}));
  EXPECT_EQ((Through<int8_t, int64_t>(3, {-128, 127})), (std::vector<int64_t>{-128, 127}));
  EXPECT_EQ((Through<uint8_t, int16_t>(2, {0, 255})), (std::vector<int16_t>{0, 255}));
  EXPECT_EQ((Through<int32_t, double>(6, {INT32_MIN, 5})), (std::vector<double>{INT32_MIN, 5}));
  EXPECT_EQ((Through<int16_t, float>(5, {-7, 9})), (std::vector<float>{-7, 9}));
  EXPECT_EQ((Through<int64_t, int64_t>(7, {1, INT64_MAX})), (std::vector<int64_t>{1, INT64_MAX}));
}

TEST(Read, SaysWhyNot) {
  auto p = Load(IdentityOf(1));
  ASSERT_TRUE(p.ok()) << p.status().message();
  std::vector<double> out{42};
  EXPECT_NE(p->Output(0).CopyTo(out).message().find("output 'y' has no elements yet"), std::string::npos);
  EXPECT_NE(p->Input(0).CopyTo(out).message().find("input 'x' has no elements yet"), std::string::npos);
  EXPECT_EQ(p->Output("z").CopyTo(out).code(), tern::Code::kNotFound);
  EXPECT_EQ(out, std::vector<double>{42});
  ASSERT_TRUE(p->Input(0).CopyFrom(std::vector<float>{0.5f, 1}, {2}).ok());
  ASSERT_TRUE(p->Run().ok());
  EXPECT_TRUE(p->Output(0).ToVector<int64_t>().empty());
  const tern::Status& status = p->Output(0).status();
  EXPECT_EQ(status.code(), tern::Code::kInvalidArgument);
  EXPECT_EQ(status.message(), "output 'y' is f32[2]; i64 does not represent every f32");
  EXPECT_TRUE(p->Output(0).ToVector<std::string>().empty());
  EXPECT_TRUE(p->Output(0).ToVector<bool>().empty());
  EXPECT_EQ(p->Output(0).ToVector<float>().size(), 2u);
  EXPECT_TRUE(p->Output(0).status().ok()) << "the last reading succeeded";
  ASSERT_TRUE(p->Input(0).CopyTo(out).ok());
  EXPECT_EQ(out, (std::vector<double>{0.5, 1}));
}

TEST(Read, LossyPairs) {
  EXPECT_TRUE((Through<int64_t, double>(7, {1, 2})).empty());
  EXPECT_TRUE((Through<int32_t, float>(6, {1, 2})).empty());
  EXPECT_TRUE((Through<uint8_t, int8_t>(2, {1, 2})).empty());
  EXPECT_TRUE((Through<int8_t, uint64_t>(3, {1, 2})).empty());
}

TEST(Read, Values) {
  const auto value = tern::Value::TensorOf(std::vector<float>{0.5f, 2}, {2});
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->ToVector<double>(), (std::vector<double>{0.5, 2}));
  std::vector<int32_t> out{1};
  EXPECT_EQ(value->CopyTo(out).message(), "the value is f32[2]; i32 does not represent every f32");
  EXPECT_EQ(out, std::vector<int32_t>{1});
  EXPECT_EQ(tern::Value().CopyTo(out).code(), tern::Code::kInvalidArgument);
  const auto bits = tern::Value::TensorOf(std::vector<bool>{true, false}, {2});
  ASSERT_TRUE(bits.ok());
  EXPECT_EQ(bits->ToVector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(bits->ToVector<int>(), (std::vector<int>{1, 0}));
}

// A value that is fed with Set has no raw() memory.
TEST(Read, InputsThatWereSet) {
  auto p = Load(IdentityOf(8));
  ASSERT_TRUE(p.ok()) << p.status().message();
  const auto words = tern::Value::TensorOf(std::vector<std::string>{"a", "b"}, {2});
  ASSERT_TRUE(words.ok() && p->Input(0).Set(*words).ok());
  EXPECT_EQ(p->Input(0).ToVector<std::string>(), (std::vector<std::string>{"a", "b"}));
}

TEST(Batch, OfAModelWithAFixedOne) {
  auto p = Load(ReshapeTo({1, 4}), 3);
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->Input(0).shape(), (tern::Shape{3, 2, 2}));
  ASSERT_TRUE(p->Input(0).CopyFrom(std::vector<float>(12, 1), {3, 2, 2}).ok());
  ASSERT_TRUE(p->Run().ok());
  EXPECT_EQ(p->Output(0).shape(), (tern::Shape{3, 4}));
}

TEST(Batch, Refused) {
  EXPECT_EQ(Load(ReshapeTo({1, 4}), -1).status().message().find("invalid argument: batch must be 0"), 0u);
  auto p = Load(ReshapeTo({1, 4}));
  ASSERT_TRUE(p.ok());
  ASSERT_TRUE(p->Input(0).CopyFrom(std::vector<float>(12, 1), {3, 2, 2}).ok());
  const tern::Status status = p->Run();
  EXPECT_EQ(status.code(), tern::Code::kInvalidArgument) << status.message();
  EXPECT_NE(status.message().find("'x' must be f32[1,2,2], got f32[3,2,2]"), std::string::npos)
      << status.message();
}

}  // namespace
