// Tests the JSON of TensorFlow Serving's REST API, and its routes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "server/dialects/tfs/rest_reply.h"
#include "server/dialects/tfs/shapes.h"
#include "server/http/base64.h"
#include "server/http/route.h"

namespace tern::server::tfs {
namespace {

ModelConfig Config(std::vector<std::pair<std::string, DType>> inputs) {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 8;
  for (const auto& [name, dtype] : inputs) {
    TensorConfig& input = config.inputs.emplace_back();
    input.name = name;
    input.dtype = dtype;
    input.dims = {-1};
  }
  return config;
}

struct Parsed {
  Status status;
  Request request;
  Layout layout = Layout::kRow;
};

Parsed Read(const ModelConfig& config, std::string_view body) {
  Parsed out;
  const Limits limits;
  BodyParts parts;
  out.status = FindParts(body, limits, parts);
  if (out.status.ok()) out.status = ReadPredict(body, parts, config, limits, out.request, out.layout);
  return out;
}

std::string Message(const ModelConfig& config, std::string_view body) {
  return Read(config, body).status.message();
}

template <class T> std::vector<T> Values(const WireTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(TfsRest, ReadsRowsAndColumns) {
  const ModelConfig one = Config({{"x", DType::kF32}});
  Parsed rows = Read(one, R"({"instances": [[1, 2.5], [-3e1, 4]]})");
  ASSERT_TRUE(rows.status.ok()) << rows.status.ToString();
  EXPECT_EQ(rows.request.inputs[0].dims, (Dims{2, 2}));
  EXPECT_EQ(Values<float>(rows.request.inputs[0]), (std::vector<float>{1, 2.5, -30, 4}));
  const Parsed named = Read(one, R"({"instances": [{"x": 7}]})");
  ASSERT_TRUE(named.status.ok()) << named.status.ToString();
  EXPECT_EQ(named.request.inputs[0].dims, (Dims{1}));
  Parsed scalar = Read(one, R"({"signature_name": "s", "inputs": 5})");
  ASSERT_TRUE(scalar.status.ok()) << scalar.status.ToString();
  EXPECT_EQ(scalar.layout, Layout::kColumn);
  EXPECT_EQ(scalar.request.inputs[0].dims, Dims());
  const Parsed empty = Read(one, R"({"inputs": [[], []]})");
  ASSERT_TRUE(empty.status.ok()) << empty.status.ToString();
  EXPECT_EQ(empty.request.inputs[0].dims, (Dims{2, 0}));
}

TEST(TfsRest, ReadsEachType) {
  const ModelConfig config =
      Config({{"s", DType::kString}, {"b", DType::kBool}, {"u", DType::kU8}, {"l", DType::kI64}});
  const Parsed got =
      Read(config, R"({"inputs": {"s": ["a", {"b64": "/w=="}], "b": [true, false], "u": [0, 255],
                                      "l": [-9223372036854775808, 9223372036854775807]}})");
  ASSERT_TRUE(got.status.ok()) << got.status.ToString();
  const auto& inputs = got.request.inputs;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(inputs[0].bytes.data()), inputs[0].bytes.size()),
            std::string("\1\0\0\0a\1\0\0\0\xff", 10));
  EXPECT_EQ(Values<uint8_t>(inputs[1]), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(Values<uint8_t>(inputs[2]), (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(Values<int64_t>(inputs[3]), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_NE(Message(config, R"({"inputs": {"s": [], "b": [], "u": [256], "l": []}})")
                .find("not of expected type: uint8"),
            std::string::npos);
}

TEST(TfsRest, RefusesWhatLosesPrecision) {
  const ModelConfig f32 = Config({{"x", DType::kF32}}), f64 = Config({{"x", DType::kF64}}),
                    f16 = Config({{"x", DType::kF16}});
  EXPECT_TRUE(Read(f32, R"({"inputs": [16777216, 33554432, 0.1, 1e-60]})").status.ok());
  EXPECT_NE(Message(f32, R"({"inputs": [16777217]})").find("to float without loss of precision"),
            std::string::npos);
  EXPECT_NE(Message(f32, R"({"inputs": [1e39]})").find("to float without loss of precision"),
            std::string::npos);
  EXPECT_NE(Message(f64, R"({"inputs": [9007199254740993]})").find("to double"), std::string::npos);
  EXPECT_NE(Message(f64, R"({"inputs": [1e999]})").find("to double"), std::string::npos);
  EXPECT_NE(Message(f16, R"({"inputs": [70000]})").find("to half"), std::string::npos);
  EXPECT_NE(Message(f64, R"({"inputs": [18446744073709551615]})").find("to double"), std::string::npos);
  const Parsed special = Read(f32, R"({"inputs": [NaN, Infinity, -Infinity]})");
  ASSERT_TRUE(special.status.ok());
  EXPECT_TRUE(std::isnan(Values<float>(special.request.inputs[0])[0]));
}

TEST(TfsRest, NamesTheWrongLevelOfAList) {
  const ModelConfig one = Config({{"x", DType::kF32}});
  const std::pair<const char*, const char*> cases[] = {
      {R"({"inputs": [[1, 2], [3]]})", "Encountered list at unexpected size: 1 at level: 1 expected size: 2"},
      {R"({"inputs": [1, [2]]})", "Encountered list at unexpected level: 1 expected < 1"},
      {R"({"inputs": [[1], 2]})", "found at incorrect level: 2 in the JSON DOM. Expected at level: 2"},
      {R"({"inputs": [[], 2]})", "found at incorrect level: 2"},
      {R"({"inputs": [[], [2]]})", "unexpected size: 1 at level: 1 expected size: 0"},
      {R"({"inputs": [{"a": 1}]})", R"(JSON Value: {"a": 1} Type: Object is not of expected type: float)"},
      {R"({"inputs": [null]})", "JSON Value: null Type: Null is not of expected type: float"},
      {R"({"instances": [[1, 2], [3]]})",
       "element: 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting tensor size: 2 but got: 1"},
      {R"({"instances": [{"x": 1}, 2]})", "Expecting object but got value/list at item 1"},
      {R"({"instances": [1, {"x": 2}]})", "Expecting value/list but got object at item 1"},
      {R"({"instances": [{"x": 1, "x": 2}]})",
       "key: x of 'instances' list. Error: INVALID_ARGUMENT: the key occurs twice"},
      {R"({"instances": {"x": 1}})", "to be an list/array"},
      {R"({"instances": [1], "instances": [2]})", "the key 'instances' occurs twice"},
      {R"({"inputs": [1}})", "missing a comma or ]"},
      {R"({"signature_name": 1, "inputs": [1]})", "'signature_name' key must be a string value"}};
  for (const auto& [body, says] : cases)
    EXPECT_NE(Message(one, body).find(says), std::string::npos) << body << ": " << Message(one, body);
  EXPECT_NE(Message(one, std::string(200, '[')).find("JSON nesting depth"), std::string::npos);
}

TEST(TfsRest, ReadsExamples) {
  const std::string body =
      R"({"context": {"c": "shared"}, "examples": [{"i": [1, 2], "f": 1.5, "s": {"b64": "AA=="}, "t": true}, {"n": NaN}]})";
  BodyParts parts;
  Examples examples;
  ASSERT_TRUE(FindParts(body, Limits(), parts).ok());
  ASSERT_TRUE(ReadExamples(body, parts, Limits(), examples).ok());
  ASSERT_EQ(examples.items.size(), 2u);
  EXPECT_EQ(examples.items[0].Find("i")->integers, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(examples.items[0].Find("f")->floats, (std::vector<float>{1.5}));
  EXPECT_EQ(examples.items[0].Find("s")->texts[0], std::string(1, '\0'));
  EXPECT_EQ(examples.items[0].Find("t")->integers, (std::vector<int64_t>{1}));
  EXPECT_EQ(examples.items[1].Find("n")->kind, DType::kF32);
  Example again;  // the serialized form has the same features
  ASSERT_TRUE(ReadExample(SerializeExample(examples.context, examples.items[0]), 100, again).ok());
  ASSERT_EQ(again.features.size(), 5u);
  EXPECT_EQ(again.Find("c")->texts, (std::vector<std::string>{"shared"}));
  EXPECT_EQ(again.Find("i")->integers, (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(ReadExample(SerializeExample(examples.context, examples.items[0]), 4, again).ok());
  EXPECT_FALSE(ReadExample("\x0a\x05xx", 100, again).ok());
}

TEST(TfsRest, LimitsWhatTheContextAddsToEachExample) {
  Examples examples;
  Feature feature;
  feature.kind = DType::kF32;
  feature.floats.assign(1000, 1.f);
  examples.context.Set("x", feature);
  examples.items.resize(100);
  Request request;
  EXPECT_TRUE(MakeInputs(Config({{"x", DType::kF32}}), examples, 400'000, request).ok());
  EXPECT_EQ(request.inputs[0].dims, (Dims{100, 1000}));
  const ModelConfig parser = Config({{"inputs", DType::kString}});
  for (const ModelConfig& config : {Config({{"x", DType::kF32}}), parser}) {
    Request refused;
    const Status status = MakeInputs(config, examples, 399'999, refused);
    EXPECT_NE(status.message().find("more than the 399999 bytes"), std::string::npos) << status.message();
  }
}

WireTensor Floats(std::string name, Dims dims, std::vector<float> values) {
  const auto owner = std::make_shared<std::vector<float>>(std::move(values));
  return {std::move(name), DType::kF32, std::move(dims),
          Buffer::Borrow(owner->data(), owner->size() * sizeof(float), owner)};
}

WireTensor Texts(std::string name, Dims dims, const std::vector<std::string>& values) {
  const auto owner = std::make_shared<std::string>();
  for (const std::string& value : values) {
    const auto length = static_cast<uint32_t>(value.size());
    owner->append(reinterpret_cast<const char*>(&length), sizeof length);
    owner->append(value);
  }
  return {std::move(name), DType::kString, std::move(dims),
          Buffer::Borrow(owner->data(), owner->size(), owner)};
}

std::string Written(const std::vector<WireTensor>& outputs, Layout layout) {
  std::string out;
  const Status status = AppendPrediction(out, outputs, layout);
  return status.ok() ? out : status.message();
}

TEST(TfsRest, WritesPredictions) {
  const WireTensor a = Floats("a", {2, 2}, {1, 2.5, NAN, -INFINITY}), b = Texts("b_bytes", {2}, {"x", "y"});
  EXPECT_EQ(Written({a}, Layout::kRow), R"({"predictions":[[1.0,2.5],[NaN,-Infinity]]})");
  EXPECT_EQ(
      Written({a, b}, Layout::kRow),
      R"({"predictions":[{"a":[1.0,2.5],"b_bytes":{"b64":"eA=="}},{"a":[NaN,-Infinity],"b_bytes":{"b64":"eQ=="}}]})");
  EXPECT_EQ(Written({a, b}, Layout::kColumn),
            R"({"outputs":{"a":[[1.0,2.5],[NaN,-Infinity]],"b_bytes":[{"b64":"eA=="},{"b64":"eQ=="}]}})");
  EXPECT_EQ(Written({Floats("s", {}, {3})}, Layout::kColumn), R"({"outputs":3.0})");
  EXPECT_EQ(Written({Texts("t", {2}, {"é", "\xff"})}, Layout::kRow),
            R"({"predictions":["é",{"b64":"/w=="}]})");
  EXPECT_EQ(Written({Floats("z", {2, 0}, {})}, Layout::kRow), R"({"predictions":[[],[]]})");
  EXPECT_NE(Written({Floats("s", {}, {3})}, Layout::kRow).find("has no shape information"),
            std::string::npos);
  EXPECT_NE(Written({a, Floats("c", {1}, {3})}, Layout::kRow).find("inconsistent batch size: 1 expecting: 2"),
            std::string::npos);
  EXPECT_NE(Written({Floats("w", {5}, {1})}, Layout::kColumn).find("do not match its shape"),
            std::string::npos);
  std::string out;
  AppendClasses(out, {{{"a", 0.5f}, {"", 1}}, {}});
  EXPECT_EQ(out, R"({"results":[[["a",0.5],["",1.0]],[]]})");
}

TEST(TfsRest, FitsShapes) {
  ModelConfig config = Config({{"x", DType::kF32}});
  config.inputs[0].dims = {1};
  TensorConfig& output = config.outputs.emplace_back();
  output.name = "y";
  output.dims = {1};
  Request request;
  request.inputs.push_back(Floats("x", {3}, {1, 2, 3}));
  ShapeFit fit;
  FitInputs(config, request, fit);
  EXPECT_EQ(request.inputs[0].dims, (Dims{3, 1}));
  WireTensor y = Floats("y", {3, 1}, {1, 2, 3});
  FitOutput(config, fit, y);
  EXPECT_EQ(y.dims, (Dims{3}));
  y = Floats("y", {3, 1}, {1, 2, 3});
  FitOutput(config, ShapeFit(), y);
  EXPECT_EQ(y.dims, (Dims{3, 1}));
  config.inputs[0].reshape = Dims();  // one number per item
  config.outputs[0].reshape = Dims();
  request.inputs[0].dims = {3};
  ShapeFit none;
  FitInputs(config, request, none);
  EXPECT_EQ(request.inputs[0].dims, (Dims{3, 1}));
  EXPECT_FALSE(none.added_one);
  FitOutput(config, none, y);
  EXPECT_EQ(y.dims, (Dims{3}));
}

TEST(TfsRest, FindsRoutes) {
  const auto kind = [](const char* target) { return ParseRoute(target).kind; };
  Route route = ParseRoute("/v1/models/a%3Ab/versions/7:predict");
  EXPECT_EQ(route.kind, RouteKind::kTfsPredict);
  EXPECT_EQ(route.model, "a:b");
  EXPECT_EQ(route.version, "7");
  route = ParseRoute("/v1/models/m/labels/canary:classify?x=1");
  EXPECT_EQ(route.kind, RouteKind::kTfsClassify);
  EXPECT_EQ(route.label, "canary");
  EXPECT_EQ(kind("/v1/models/m:regress"), RouteKind::kTfsRegress);
  EXPECT_EQ(kind("/v1/models/m"), RouteKind::kTfsStatus);
  EXPECT_EQ(kind("/v1/models/m/versions/1"), RouteKind::kTfsStatus);
  EXPECT_EQ(kind("/v1/models/m/metadata"), RouteKind::kTfsMetadata);
  EXPECT_EQ(kind("/v1/models/m/versions/1/metadata"), RouteKind::kTfsMetadata);
  for (const char* target : {"/v1/models/m:explain", "/v1/models/:predict", "/v1/models/m/versions/1/x",
                             "/v1/models/m/x/1", "/v1/models/m:predict/", "/v1/models/m:"})
    EXPECT_EQ(kind(target), RouteKind::kNotFound) << target;
  EXPECT_EQ(kind("/v1/models/%zz:predict"), RouteKind::kBadTarget);
  EXPECT_EQ(kind("/monitoring/prometheus/metrics"), RouteKind::kMetrics);
  EXPECT_FALSE(Allows(RouteKind::kTfsPredict, Method::kGet));
  EXPECT_TRUE(Allows(RouteKind::kTfsStatus, Method::kGet));
  EXPECT_EQ(GroupOf(RouteKind::kTfsRegress), ApiGroup::kInference);
}

TEST(Base64, EncodesWhatItDecodes) {
  for (const std::string text : {"", "a", "ab", "abc", "\xff\xfe"}) {
    std::string back;
    ASSERT_TRUE(DecodeBase64(EncodeBase64(text), back));
    EXPECT_EQ(back, text);
  }
  EXPECT_EQ(EncodeBase64("ab"), "YWI=");
}

}  // namespace
}  // namespace tern::server::tfs
