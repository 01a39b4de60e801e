#include "server/scheduler/request_check.h"

#include "server/scheduler/test_support.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

std::string ErrorOf(const ModelConfig& config, const Request& request) {
  const auto result = CheckRequest(config, request);
  if (result.ok()) return "ok";
  EXPECT_EQ(result.status().code(), Code::kInvalidArgument);
  return result.status().message();
}

Request With(WireTensor tensor) {
  Request request;
  request.inputs.push_back(std::move(tensor));
  return request;
}

TEST(RequestCheck, AcceptsAndReturnsTheBatchSize) {
  EXPECT_EQ(*CheckRequest(IntModel(4), With(Ints("x", {3, 2}, {1, 2, 3, 4, 5, 6}))), 3);
  EXPECT_EQ(*CheckRequest(IntModel(0), With(Ints("x", {2}, {1, 2}))), 1);
  EXPECT_EQ(*CheckRequest(IntModel(0), With(Ints("x", {0}, {}))), 1);
}

TEST(RequestCheck, InputNames) {
  EXPECT_EQ(
      ErrorOf(IntModel(), Request()),
      "expected 1 inputs but got 0 inputs for model 'm'. Got input(s) [], but missing required input(s) "
      "['x']. Please provide all required input(s).");
  EXPECT_EQ(ErrorOf(IntModel(), With(Ints("z", {1}, {1}))), "unexpected inference input 'z' for model 'm'");
  Request twice = With(Ints("x", {1}, {1}));
  twice.inputs.push_back(twice.inputs[0]);
  EXPECT_NE(ErrorOf(IntModel(), twice).find("expected 1 inputs but got 2 inputs"), std::string::npos);
  ModelConfig two = IntModel();
  two.inputs.push_back({.name = "o", .dtype = DType::kI32, .dims = {1}, .optional = true});
  EXPECT_EQ(ErrorOf(two, twice), "input 'x' already exists in request");
  EXPECT_EQ(ErrorOf(two, With(Ints("x", {1}, {1}))), "ok");
  EXPECT_NE(
      ErrorOf(two, With(Ints("o", {1}, {1})))
          .find("expected number of inputs between 1 and 2 but got 1 inputs for model 'm'. Got input(s) "
                "['o'], but missing required input(s) ['x']."),
      std::string::npos);
}

TEST(RequestCheck, Outputs) {
  Request request = With(Ints("x", {1}, {1}));
  request.outputs.push_back({.name = "y"});
  EXPECT_EQ(ErrorOf(IntModel(), request), "ok");
  request.outputs.push_back({.name = "y"});
  EXPECT_EQ(ErrorOf(IntModel(), request), "output 'y' already exists in request");
  request.outputs = {{.name = "q"}};
  EXPECT_EQ(ErrorOf(IntModel(), request), "unexpected inference output 'q' for model 'm'");
}

TEST(RequestCheck, BatchSizes) {
  EXPECT_EQ(
      ErrorOf(IntModel(2), With(Ints("x", {3, 1}, {1, 2, 3}))),
      "inference request batch-size must be <= 2 for 'm', got 3; max_batch_size in the model's config.pbtxt "
      "raises the limit");
  EXPECT_EQ(ErrorOf(IntModel(2), With(Ints("x", {}, {1}))),
            "input 'x' has no shape but model requires batch dimension for 'm'");
  EXPECT_EQ(ErrorOf(IntModel(2), With(Ints("x", {0, 1}, {}))),
            "inference request batch-size must be >= 1 for 'm', got 0");
  EXPECT_EQ(ErrorOf(IntModel(2), With(Ints("x", {-1, 1}, {}))),
            "inference request batch-size must be >= 1 for 'm', got -1");
  ModelConfig two = IntModel(4);
  two.inputs.push_back({.name = "z", .dtype = DType::kI32, .dims = {1}});
  Request request = With(Ints("x", {2, 1}, {1, 2}));
  request.inputs.push_back(Ints("z", {1, 1}, {1}));
  EXPECT_EQ(ErrorOf(two, request),
            "input 'z' batch size does not match other inputs for 'm': got 1, other inputs have 2");
}

TEST(RequestCheck, TypesAndShapes) {
  EXPECT_EQ(ErrorOf(IntModel(), With(Make<float>("x", DType::kF32, {1}, {1}))),
            "inference input 'x' data-type is 'FP32', but model 'm' expects 'INT32'");
  EXPECT_EQ(ErrorOf(IntModel(), With(Ints("x", {1, 1}, {1}))),
            "unexpected shape for input 'x' for model 'm'. Expected [-1], got [1,1]. ");
  EXPECT_NE(ErrorOf(IntModel(2), With(Ints("x", {1}, {1}))).find("Expected [-1,-1], got [1]. NOTE: Setting"),
            std::string::npos);
  EXPECT_EQ(ErrorOf(IntModel(), With(Ints("x", {-1}, {1}))),
            "All input dimensions should be specified for input 'x' for model 'm', got [-1]");
  ModelConfig fixed = IntModel();
  fixed.inputs[0].dims = {2};
  EXPECT_NE(ErrorOf(fixed, With(Ints("x", {3}, {1, 2, 3}))).find("unexpected shape for input 'x'"),
            std::string::npos);
}

TEST(RequestCheck, ByteSizes) {
  EXPECT_EQ(ErrorOf(IntModel(), With(Ints("x", {3}, {1, 2}))),
            "input byte size mismatch for input 'x' for model 'm'. Expected 12, got 8");
  EXPECT_EQ(ErrorOf(IntModel(), With(Ints("x", {0}, {1}))),
            "input byte size mismatch for input 'x' for model 'm'. Expected 0, got 4");
  ModelConfig square = IntModel();
  square.inputs[0].dims = {-1, -1};
  for (const int64_t side : {INT64_MAX, int64_t{1} << 32, int64_t{1} << 31})
    EXPECT_NE(ErrorOf(square, With(Ints("x", {side, side}, {1}))), "ok") << side;
  EXPECT_NE(ErrorOf(square, With(Ints("x", {0, INT64_MAX}, {1}))), "ok");
}

ModelConfig StringModel() {
  ModelConfig config = IntModel();
  config.inputs[0].dtype = DType::kString;
  return config;
}

TEST(RequestCheck, StringElements) {
  EXPECT_EQ(ErrorOf(StringModel(), With(Strings("x", {3}, {"a", "", "bcd"}))), "ok");
  EXPECT_EQ(ErrorOf(StringModel(), With(Strings("x", {3}, {"a", ""}))),
            "expected 3 string elements for inference input 'x' for model 'm', got 2");
  EXPECT_EQ(ErrorOf(StringModel(), With(Strings("x", {1}, {"a", "b"}))),
            "unexpected number of string elements 2 for inference input 'x' for model 'm', expecting 1");
  EXPECT_EQ(ErrorOf(StringModel(), With(Strings("x", {0}, {}))), "ok");
  WireTensor cut = Strings("x", {1}, {"abc"});
  cut.bytes = cut.bytes.Slice(0, 5);
  EXPECT_NE(ErrorOf(StringModel(), With(cut)).find("incomplete string data"), std::string::npos);
  cut.bytes = cut.bytes.Slice(0, 3);
  EXPECT_NE(ErrorOf(StringModel(), With(cut)).find("incomplete string length indicator"), std::string::npos);
  cut.bytes = Make<uint32_t>("x", DType::kU32, {1}, {UINT32_MAX}).bytes;
  EXPECT_NE(ErrorOf(StringModel(), With(cut)).find("incomplete string data"), std::string::npos);
  cut.dims = {INT64_MAX};
  EXPECT_NE(ErrorOf(StringModel(), With(cut)), "ok");
}

TEST(WireTensor, ItemOffsets) {
  EXPECT_EQ(*ItemOffsets(Ints("x", {2, 2}, {1, 2, 3, 4})), (std::vector<size_t>{0, 8, 16}));
  EXPECT_EQ(*ItemOffsets(Strings("x", {2, 1}, {"abc", ""})), (std::vector<size_t>{0, 7, 11}));
  EXPECT_EQ(*ItemOffsets(Ints("x", {2, 0}, {})), (std::vector<size_t>{0, 0, 0}));
  EXPECT_FALSE(ItemOffsets(Ints("x", {}, {1})).ok());
  EXPECT_FALSE(ItemOffsets(Ints("x", {3}, {1, 2})).ok());
  EXPECT_FALSE(ItemOffsets(Strings("x", {3}, {"a", "b"})).ok());
  EXPECT_FALSE(ItemOffsets(Strings("x", {INT64_MAX}, {"a", "b"})).ok());
  EXPECT_FALSE(ItemOffsets(Ints("x", {INT64_MAX, 0}, {})).ok());
}

}  // namespace
}  // namespace tern::server
