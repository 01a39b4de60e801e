#include "server/grpc/infer_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "inference.pb.h"

namespace tern::server {
namespace {

struct Parsed {
  std::string bytes;
  Buffer message;
  InferMessage out;
  Status status;
};

std::unique_ptr<Parsed> Parse(std::string bytes, const InferParseOptions& options = {}) {
  auto parsed = std::make_unique<Parsed>();
  parsed->bytes = std::move(bytes);
  parsed->message = Buffer::Borrow(parsed->bytes.data(), parsed->bytes.size(), std::make_shared<int>(0));
  parsed->status = ParseInferRequest(parsed->message, options, parsed->out);
  return parsed;
}
std::unique_ptr<Parsed> Parse(const inference::ModelInferRequest& request,
                              const InferParseOptions& options = {}) {
  return Parse(request.SerializeAsString(), options);
}

inference::ModelInferRequest::InferInputTensor& AddInput(inference::ModelInferRequest& request,
                                                         const std::string& type,
                                                         std::initializer_list<int64_t> shape) {
  auto& input = *request.add_inputs();
  input.set_name("in" + std::to_string(request.inputs_size()));
  input.set_datatype(type);
  for (const int64_t dim : shape) input.add_shape(dim);
  return input;
}

template <class T> std::vector<T> ValuesOf(const Buffer& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (bytes.size()) memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

TEST(GrpcInferRequest, RawTensorsAreSlices) {
  inference::ModelInferRequest request;
  request.set_model_name("m");
  request.set_model_version("3");
  request.set_id("id");
  AddInput(request, "FP32", {2, 1});
  AddInput(request, "INT8", {0});
  AddInput(request, "FP16", {});
  request.add_raw_input_contents("12345678");
  request.add_raw_input_contents("");
  request.add_raw_input_contents("ab");
  const auto parsed = Parse(request);
  ASSERT_TRUE(parsed->status.ok()) << parsed->status.ToString();
  EXPECT_EQ(parsed->out.model, "m");
  EXPECT_EQ(parsed->out.version, "3");
  EXPECT_EQ(parsed->out.request.id, "id");
  const auto& inputs = parsed->out.request.inputs;
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].dims, (Dims{2, 1}));
  EXPECT_EQ(inputs[0].dtype, DType::kF32);
  EXPECT_TRUE(inputs[0].bytes.SharesWith(parsed->message));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(inputs[0].bytes.data()), 8), "12345678");
  EXPECT_EQ(inputs[1].bytes.size(), 0u);
  EXPECT_EQ(inputs[2].bytes.size(), 2u);
}

TEST(GrpcInferRequest, TypedContentsOfEveryType) {
  inference::ModelInferRequest request;
  AddInput(request, "BOOL", {2}).mutable_contents()->mutable_bool_contents()->Add(true);
  request.mutable_inputs(0)->mutable_contents()->add_bool_contents(false);
  auto& i8 = AddInput(request, "INT8", {2});
  auto& i16 = AddInput(request, "INT16", {2});
  auto& i32 = AddInput(request, "INT32", {2});
  for (const int v : {-128, 127}) i8.mutable_contents()->add_int_contents(v);
  for (const int v : {-32768, 32767}) i16.mutable_contents()->add_int_contents(v);
  for (const int v : {INT32_MIN, INT32_MAX}) i32.mutable_contents()->add_int_contents(v);
  auto& i64 = AddInput(request, "INT64", {1});
  i64.mutable_contents()->add_int64_contents(INT64_MIN);
  auto& u8 = AddInput(request, "UINT8", {1});
  u8.mutable_contents()->add_uint_contents(255);
  auto& u64 = AddInput(request, "UINT64", {1});
  u64.mutable_contents()->add_uint64_contents(UINT64_MAX);
  auto& f32 = AddInput(request, "FP32", {2});
  f32.mutable_contents()->add_fp32_contents(std::numeric_limits<float>::quiet_NaN());
  f32.mutable_contents()->add_fp32_contents(1.5f);
  auto& f64 = AddInput(request, "FP64", {1});
  f64.mutable_contents()->add_fp64_contents(-2.5);
  auto& text = AddInput(request, "BYTES", {2});
  text.mutable_contents()->add_bytes_contents("");
  text.mutable_contents()->add_bytes_contents("abc");
  const auto parsed = Parse(request);
  ASSERT_TRUE(parsed->status.ok()) << parsed->status.ToString();
  const auto& in = parsed->out.request.inputs;
  EXPECT_EQ(ValuesOf<uint8_t>(in[0].bytes), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(ValuesOf<int8_t>(in[1].bytes), (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(ValuesOf<int16_t>(in[2].bytes), (std::vector<int16_t>{-32768, 32767}));
  EXPECT_EQ(ValuesOf<int32_t>(in[3].bytes), (std::vector<int32_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(ValuesOf<int64_t>(in[4].bytes), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(ValuesOf<uint8_t>(in[5].bytes), (std::vector<uint8_t>{255}));
  EXPECT_EQ(ValuesOf<uint64_t>(in[6].bytes), (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_TRUE(std::isnan(ValuesOf<float>(in[7].bytes)[0]));
  EXPECT_EQ(ValuesOf<float>(in[7].bytes)[1], 1.5f);
  EXPECT_EQ(ValuesOf<double>(in[8].bytes), (std::vector<double>{-2.5}));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(in[9].bytes.data()), in[9].bytes.size()),
            std::string("\0\0\0\0\3\0\0\0abc", 11));
}

TEST(GrpcInferRequest, EmptyTypedTensor) {
  inference::ModelInferRequest request;
  AddInput(request, "INT32", {0});
  const auto parsed = Parse(request);
  ASSERT_TRUE(parsed->status.ok()) << parsed->status.ToString();
  EXPECT_EQ(parsed->out.request.inputs[0].bytes.size(), 0u);
}

TEST(GrpcInferRequest, RefusesBadContents) {
  auto fails = [](const std::string& type, auto fill, std::initializer_list<int64_t> shape,
                  const std::string& text) {
    inference::ModelInferRequest request;
    request.set_model_name("m");
    fill(*AddInput(request, type, shape).mutable_contents());
    const auto parsed = Parse(request);
    EXPECT_EQ(parsed->status.code(), Code::kInvalidArgument) << type;
    EXPECT_NE(parsed->status.message().find(text), std::string::npos) << parsed->status.message();
  };
  using Contents = inference::InferTensorContents;
  fails(
      "INT8", [](Contents& c) { c.add_int_contents(128); }, {1}, "out of range");
  fails(
      "INT16", [](Contents& c) { c.add_int_contents(-32769); }, {1}, "out of range");
  fails(
      "UINT8", [](Contents& c) { c.add_uint_contents(256); }, {1}, "out of range");
  fails(
      "UINT16", [](Contents& c) { c.add_uint_contents(65536); }, {1}, "out of range");
  fails(
      "FP32", [](Contents& c) { c.add_fp32_contents(1); }, {2}, "expected 2 values");
  fails(
      "FP32", [](Contents& c) { c.add_fp64_contents(1); }, {1}, "fp64_contents");
  fails(
      "FP16", [](Contents& c) { c.add_fp32_contents(1); }, {1}, "raw_input_contents");
  fails(
      "BYTES", [](Contents&) {}, {1}, "expected 1 values");
  fails(
      "INT32", [](Contents& c) { c.add_int_contents(1); }, {INT64_MAX, 2}, "too many elements");
  fails(
      "INT32", [](Contents& c) { c.add_int_contents(1); }, {-1}, "dim 0 is -1");
  fails(
      "INT33", [](Contents& c) { c.add_int_contents(1); }, {1}, "unknown datatype");
  fails(
      "", [](Contents& c) { c.add_int_contents(1); }, {1}, "datatype");
}

TEST(GrpcInferRequest, RefusesAWrongNumberOfRawTensors) {
  inference::ModelInferRequest request;
  request.set_model_name("m");
  AddInput(request, "INT8", {1});
  request.add_raw_input_contents("a");
  request.add_raw_input_contents("b");
  EXPECT_NE(Parse(request)->status.message().find("unexpected additional input data for model 'm'"),
            std::string::npos);
  AddInput(request, "INT8", {1});
  AddInput(request, "INT8", {1});
  EXPECT_NE(Parse(request)->status.message().find("only 2 raw_input_contents"), std::string::npos);
  request.mutable_inputs(2)->set_name("in1");
  EXPECT_NE(Parse(request)->status.message().find("input 'in1' already exists in request"),
            std::string::npos);
}

TEST(GrpcInferRequest, RefusesTooMuch) {
  inference::ModelInferRequest request;
  for (int i = 0; i < 5; ++i) AddInput(request, "INT8", {0});
  InferParseOptions options;
  options.tensors = 4;
  EXPECT_NE(Parse(request, options)->status.message().find("more than 4 inputs"), std::string::npos);
  options.tensors = 5;
  EXPECT_TRUE(Parse(request, options)->status.ok());
  options.bytes = 7;
  AddInput(request, "INT64", {1}).mutable_contents()->add_int64_contents(1);
  options.tensors = 6;
  EXPECT_NE(Parse(request, options)->status.message().find("the limit is 7"), std::string::npos);
  inference::ModelInferRequest deep;
  auto& input = AddInput(deep, "INT8", {});
  for (int i = 0; i < 65; ++i) input.add_shape(1);
  EXPECT_NE(Parse(deep)->status.message().find("more than 64 dims"), std::string::npos);
  inference::ModelInferRequest chatty;
  for (int i = 0; i < 300; ++i) (*chatty.mutable_parameters())["p" + std::to_string(i)].set_bool_param(true);
  EXPECT_NE(Parse(chatty)->status.message().find("more than 256 parameters"), std::string::npos);
}

TEST(GrpcInferRequest, Parameters) {
  inference::ModelInferRequest request;
  auto& p = *request.mutable_parameters();
  p["sequence_id"].set_string_param("abc");
  p["sequence_end"].set_bool_param(true);
  p["i"].set_int64_param(-5);
  p["u"].set_uint64_param(5);
  p["d"].set_double_param(0.5);
  p["b"].set_bool_param(false);
  auto& output = *request.add_outputs();
  output.set_name("o");
  (*output.mutable_parameters())["classification"].set_int64_param(3);
  const auto parsed = Parse(request);
  ASSERT_TRUE(parsed->status.ok()) << parsed->status.ToString();
  const Request& r = parsed->out.request;
  EXPECT_EQ(r.sequence.id, "abc");
  EXPECT_FALSE(r.sequence.numeric);
  EXPECT_TRUE(r.sequence.end);
  EXPECT_EQ(std::get<int64_t>(*FindParameter(r.parameters, "i")), -5);
  EXPECT_EQ(std::get<int64_t>(*FindParameter(r.parameters, "u")), 5);
  EXPECT_EQ(std::get<double>(*FindParameter(r.parameters, "d")), 0.5);
  EXPECT_EQ(std::get<bool>(*FindParameter(r.parameters, "b")), false);
  EXPECT_EQ(r.outputs[0].classification, 3);
  (*output.mutable_parameters())["classification"].set_int64_param(0);
  EXPECT_EQ(Parse(request)->status.code(), Code::kInvalidArgument);
}

TEST(GrpcInferRequest, RefusesBadParameters) {
  auto fails = [](const std::string& name, auto fill) {
    inference::ModelInferRequest request;
    fill((*request.mutable_parameters())[name]);
    EXPECT_EQ(Parse(request)->status.code(), Code::kInvalidArgument) << name;
  };
  using P = inference::InferParameter;
  fails("priority", [](P& p) { p.set_int64_param(-1); });
  fails("priority", [](P& p) { p.set_string_param("1"); });
  fails("timeout", [](P& p) { p.set_bool_param(true); });
  fails("sequence_start", [](P& p) { p.set_int64_param(1); });
  fails("sequence_id", [](P& p) { p.set_double_param(1); });
  fails("triton_x", [](P& p) { p.set_bool_param(true); });
  fails("big", [](P& p) { p.set_uint64_param(UINT64_MAX); });
  fails("nothing", [](P&) {});
}

TEST(GrpcInferRequest, SharedMemoryThatIsOff) {
  inference::ModelInferRequest request;
  auto& input = AddInput(request, "INT8", {1});
  (*input.mutable_parameters())["shared_memory_region"].set_string_param("r");
  EXPECT_EQ(Parse(request)->status.code(), Code::kUnsupported);
}

// Parses every prefix of a message, and the message with every byte changed. Each must give a result or an
// error.
TEST(GrpcInferRequest, PeeksAtNames) {
  const auto peek = [](std::string bytes) {
    const RequestNames names =
        PeekNames(Buffer::Borrow(bytes.data(), bytes.size(), std::make_shared<int>(0)));
    return StrCat(names.model, "|", names.version, "|", names.id);
  };
  inference::ModelInferRequest request;
  request.set_model_name("m");
  EXPECT_EQ(peek(request.SerializeAsString()), "m||");
  request.set_model_version("2");
  request.set_id("i");
  AddInput(request, "FP32", {1});
  EXPECT_EQ(peek(request.SerializeAsString()), "m|2|i");
  EXPECT_EQ(peek(request.SerializeAsString() + "\xff"), "m|2|i") << "the rest is not read";
  EXPECT_EQ(peek(""), "||");
  EXPECT_EQ(peek("\x0a\x01\xff"), "||");
  EXPECT_EQ(peek("\x0a\x01m\x12\x05"), "||");
  EXPECT_EQ(peek("\x12\x01"
                 "2\x0a\x01m"),
            "|2|")
      << "another order";
}

bool TakesLong(std::string bytes) {
  return TakesLongToParse(Buffer::Borrow(bytes.data(), bytes.size(), std::make_shared<int>(0)));
}

TEST(GrpcInferRequest, TakesLongToParse) {
  inference::ModelInferRequest request;
  request.set_model_name("m");
  AddInput(request, "FP32", {100'000});
  inference::ModelInferRequest raw = request;
  raw.add_raw_input_contents(std::string(400'000, '\0'));
  EXPECT_FALSE(TakesLong(request.SerializeAsString()));
  EXPECT_FALSE(TakesLong(raw.SerializeAsString()));
  for (int i = 0; i < 100'000; ++i) request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_TRUE(TakesLong(request.SerializeAsString()));
  // Many small fields take long wherever the raw tensors are.
  std::string fields;
  for (int i = 0; i < 200'000; ++i) fields += "\x1a\x01x";
  EXPECT_TRUE(TakesLong(raw.SerializeAsString() + fields));
  EXPECT_TRUE(TakesLong(fields + raw.SerializeAsString()));
}

TEST(GrpcInferRequest, DamagedMessages) {
  inference::ModelInferRequest request;
  request.set_model_name("model");
  (*request.mutable_parameters())["sequence_id"].set_int64_param(1);
  AddInput(request, "INT32", {2}).mutable_contents()->add_int_contents(1);
  request.mutable_inputs(0)->mutable_contents()->add_int_contents(-1);
  request.add_outputs()->set_name("o");
  const std::string good = request.SerializeAsString();
  EXPECT_TRUE(Parse(good)->status.ok());
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    refused += !Parse(good.substr(0, i))->status.ok();
    for (const int bit : {1, 8, 128}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ bit);
      EXPECT_NE(Parse(bad)->status.code(), Code::kInternal);
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace tern::server
