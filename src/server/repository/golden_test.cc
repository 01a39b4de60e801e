#include "server/repository/golden_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tern::server {
namespace {

ModelConfig Config() {
  ModelConfig config;
  config.name = "m";
  TensorConfig input;
  input.name = "x";
  input.dtype = DType::kF32;
  input.dims = {2};
  config.inputs.push_back(input);
  return config;
}

constexpr const char* kRequest = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[2],"data":[1,2]}]})";

Result<GoldenRequest> Parse(const std::string& response, const std::string& more = "") {
  return ParseGolden(StrCat(R"({"request":)", kRequest, R"(,"response":)", response, more, "}"), Config());
}

std::string ResponseText(const std::string& name, const std::string& type, const std::string& shape,
                         const std::string& data) {
  return StrCat(R"({"model_name":"m","outputs":[{"name":")", name, R"(","datatype":")", type, R"(","shape":)",
                shape, R"(,"data":)", data, "}]}");
}

template <class T> WireTensor Tensor1(const char* name, DType dtype, const std::vector<T>& values) {
  Buffer bytes = Buffer::Allocate(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, dtype, {static_cast<int64_t>(values.size())}, std::move(bytes)};
}

TEST(Golden, ReadsRequestResponseAndTolerances) {
  const auto golden =
      Parse(ResponseText("y", "FP32", "[2]", "[0.5,-1]"),
            R"(,"description":"why","tolerance":{"absolute":0.25,"outputs":{"y":{"relative":1}}})");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  EXPECT_EQ(golden->request.inputs.at(0).name, "x");
  EXPECT_EQ(golden->outputs.at(0).dims, Dims({2}));
  EXPECT_EQ(golden->tolerance.absolute, 0.25);
  EXPECT_EQ(golden->tolerance.relative, 1e-4);
  EXPECT_EQ(golden->of_output.at("y").absolute, 0);
  EXPECT_EQ(golden->of_output.at("y").relative, 1);
}

TEST(Golden, RefusesWrongFiles) {
  const std::string good = ResponseText("y", "FP32", "[2]", "[0.5,-1]");
  const std::pair<Result<GoldenRequest>, const char*> cases[] = {
      {ParseGolden("", Config()), "expected an object"},
      {ParseGolden("{}", Config()), "'request' is missing"},
      {ParseGolden(StrCat(R"({"request":)", kRequest, "}"), Config()), "'response' has no outputs"},
      {Parse(good, R"(,"tolerances":{})"), "unknown or repeated key 'tolerances'"},
      {Parse(good, StrCat(",\"request\":", kRequest)), "unknown or repeated key 'request'"},
      {Parse(good, R"(,"tolerance":{"absolute":-1})"), "from 0 on, got -1"},
      {Parse(good, R"(,"tolerance":{"outputs":{"z":{}}})"), "names the output 'z', which 'response' lacks"},
      {Parse(ResponseText("y", "FP33", "[2]", "[1,2]")), "unknown datatype 'FP33'"},
      {Parse(ResponseText("y", "FP32", "[2]", "[1]")), "has 2 elements, 'data' has 1"},
      {Parse(ResponseText("y", "FP32", "[99999999999]", "[1]")), "'data' has fewer"},
      {Parse(R"({"outputs":[{"name":"y"}]})"), "needs name, datatype, shape and data"},
      {Parse(R"({"outputs":[]})"), "no outputs"}};
  for (const auto& [result, says] : cases) {
    EXPECT_FALSE(result.ok()) << says;
    EXPECT_NE(result.status().message().find(says), std::string::npos) << result.status().message();
  }
}

TEST(CompareTensors, AllowsTheToleranceOfFloats) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto expected = Tensor1<float>("y", DType::kF32, {1, 0, nan, inf});
  EXPECT_TRUE(
      CompareTensors(expected, Tensor1<float>("y", DType::kF32, {1.00005f, 1e-6f, nan, inf}), {}).ok());
  const Status wrong = CompareTensors(expected, Tensor1<float>("y", DType::kF32, {1, 0.5, nan, -inf}), {});
  EXPECT_EQ(wrong.message(),
            "output 'y'[1]: expected 0, got 0.5, which differs by 0.5 > 1e-05 + 0.0001 * |expected|; 2 of 4 "
            "elements are wrong");
  EXPECT_FALSE(CompareTensors(expected, Tensor1<float>("y", DType::kF32, {1, 0, 0, inf}), {}).ok());
}

TEST(CompareTensors, ComparesIntegersExactlyUnlessTheFileSaysOtherwise) {
  const auto expected = Tensor1<int32_t>("y", DType::kI32, {100, 7}),
             near = Tensor1<int32_t>("y", DType::kI32, {101, 7});
  EXPECT_EQ(CompareTensors(expected, near, {1, 1, false}).message(),
            "output 'y'[0]: expected 100, got 101; 1 of 2 elements are wrong");
  EXPECT_TRUE(CompareTensors(expected, near, {1, 0, true}).ok());
}

TEST(CompareTensors, ComparesTypesDimsAndTexts) {
  const auto ints = Tensor1<int32_t>("y", DType::kI32, {1}), longs = Tensor1<int64_t>("y", DType::kI64, {1});
  EXPECT_EQ(CompareTensors(ints, longs, {}).message(), "output 'y' must be INT32[1], got INT64[1]");
  WireTensor a = Tensor1<char>("y", DType::kString, {1, 0, 0, 0, 'a'}), b = a;
  a.dims = b.dims = {1};
  EXPECT_TRUE(CompareTensors(a, b, {}).ok());
  b.bytes = Tensor1<char>("y", DType::kString, {1, 0, 0, 0, 'b'}).bytes;
  EXPECT_EQ(CompareTensors(a, b, {}).message(),
            "output 'y'[0]: expected 'a', got 'b'; 1 of 1 elements are wrong");
  a.dims = b.dims = {2};
  EXPECT_EQ(CompareTensors(a, b, {}).message(), "output 'y' has fewer texts than its shape says");
}

}  // namespace
}  // namespace tern::server
