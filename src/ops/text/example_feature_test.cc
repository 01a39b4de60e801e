#include "ops/test_graph.h"
#include "ops/text/example_record.h"

namespace tern {
namespace {

// Returns a field of a protobuf message: the tag, the length and the bytes.
std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}

// Returns a record with one feature. `list` is 1 for texts, 2 for floats and 3 for integers.
std::string Record(const std::string& key, int list, const std::string& values) {
  return Field(1, Field(1, Field(1, key) + Field(2, Field(list, values))));
}

const std::string kFloats =
    Record("x", 2, Field(1, std::string("\0\0\x80\x3f\0\0\0\x40", 8)));  // 1 and 2, packed
const std::string kIntegers = Record("i", 3, Field(1, "\x05\x96\x01"));  // 5 and 150, packed
const std::string kTexts = Record("t", 1, Field(1, "owl") + Field(1, ""));

using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

AttrList Of(const std::string& key, DType to, Ints shape) {
  return {{"key", key}, {"to", to}, {"shape", std::move(shape)}};
}

TEST(ExampleFeature, ReadsEachKind) {
  const Tensor x = Tensor::Strings({2}, {kFloats, kFloats});
  const Tensor y = OutputOf("ExampleFeature", {x}, Of("x", DType::kF32, {2, 1}));
  EXPECT_EQ(y.dims(), (Dims{2, 2, 1}));
  EXPECT_EQ(ToDoubles(y), (std::vector<double>{1, 2, 1, 2}));
  EXPECT_EQ(
      ToLongs(OutputOf("ExampleFeature", {Tensor::Strings({1}, {kIntegers})}, Of("i", DType::kI64, {2}))),
      (Ints{5, 150}));
  EXPECT_EQ(
      ToStrings(OutputOf("ExampleFeature", {Tensor::Strings({}, {kTexts})}, Of("t", DType::kString, {2}))),
      (Texts{"owl", ""}));
  const std::string unpacked = Record("x", 2, std::string("\x0d\0\0\x40\x40", 5));  // 3
  EXPECT_EQ(
      ToDoubles(OutputOf("ExampleFeature", {Tensor::Strings({1}, {unpacked})}, Of("x", DType::kF32, {1}))),
      (std::vector<double>{3}));
  const std::string twice = kFloats + Record("x", 2, std::string("\x0d\0\0\x40\x40", 5));
  EXPECT_EQ(ToDoubles(OutputOf("ExampleFeature", {Tensor::Strings({1}, {twice})}, Of("x", DType::kF32, {1}))),
            (std::vector<double>{3}));
}

TEST(ExampleFeature, UsesDefaults) {
  const Tensor x = Tensor::Strings({2}, {kFloats, ""});
  const Tensor one = Tensor::Of(DType::kF32, {1}, {7}), all = Tensor::Of(DType::kF32, {2}, {8, 9});
  EXPECT_EQ(ToDoubles(OutputOf("ExampleFeature", {x, one}, Of("x", DType::kF32, {2}))),
            (std::vector<double>{1, 2, 7, 7}));
  EXPECT_EQ(ToDoubles(OutputOf("ExampleFeature", {x, all}, Of("x", DType::kF32, {2}))),
            (std::vector<double>{1, 2, 8, 9}));
  EXPECT_EQ(ToStrings(OutputOf("ExampleFeature", {x, Tensor::Strings({1}, {"none"})},
                               Of("t", DType::kString, {1}))),
            (Texts{"none", "none"}));
}

std::string Message(const std::string& record, const AttrList& attrs) {
  const auto result = EvaluateOp("ExampleFeature", {Tensor::Strings({1}, {record})}, attrs);
  return result.ok() ? "" : result.status().message();
}

TEST(ExampleFeature, RefusesWhatDoesNotFit) {
  EXPECT_NE(Message("", Of("x", DType::kF32, {1}))
                .find("Feature: x (data type: f32) is required but could not be found."),
            std::string::npos);
  EXPECT_NE(Message(kFloats, Of("x", DType::kI64, {2})).find("Data type: f32 but expected type: i64"),
            std::string::npos);
  EXPECT_NE(Message(kFloats, Of("x", DType::kF32, {3})).find("Values size: 2 but output shape: [3]"),
            std::string::npos);
  EXPECT_NE(Message(kFloats, Of("x", DType::kF16, {2})).find("a feature is f32, i64 or string"),
            std::string::npos);
  EXPECT_NE(Message(kFloats, Of("x", DType::kF32, {-1})).find("is not a shape"), std::string::npos);
}

TEST(ExampleFeature, RefusesDamagedRecords) {
  const std::string all = kFloats + kIntegers + kTexts;
  for (size_t size = 0; size < all.size(); ++size) {  // every prefix is read without a crash
    const auto found = FindFeature(std::string_view(all).substr(0, size), "t");
    const bool whole = size == 0 || size == kFloats.size() || size == kFloats.size() + kIntegers.size();
    EXPECT_EQ(found.ok(), whole) << size;
  }
  EXPECT_FALSE(FindFeature(Record("x", 2, Field(1, "abc")), "x").ok());  // three bytes are no floats
  EXPECT_FALSE(FindFeature(Record("x", 3, Field(1, "\x80")), "x").ok());
  EXPECT_FALSE(*FindFeature(Record("x", 2, Field(1, "abc")), "y"));
}

}  // namespace
}  // namespace tern
