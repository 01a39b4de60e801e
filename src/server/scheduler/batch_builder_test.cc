#include "server/scheduler/batch_builder.h"

#include <cmath>

#include "server/scheduler/execution.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

QueuedCallPtr Queued(std::vector<WireTensor> inputs, int64_t items) {
  auto queued = std::make_shared<QueuedCall>();
  queued->call = std::make_shared<TestCall>();
  queued->call->request.inputs = std::move(inputs);
  queued->items = items;
  return queued;
}

TEST(BatchBuilder, OneRequestIsNotCopied) {
  const ModelConfig config = IntModel(8);
  const BatchBuilder builder(config);
  const std::vector<QueuedCallPtr> calls = {Queued({Ints("x", {2, 1}, {1, 2})}, 2)};
  Batch batch;
  const BatchLayout layout = builder.Layout(calls);
  ASSERT_TRUE(builder.Build(layout, batch).ok());
  EXPECT_EQ(batch.inputs[0].bytes.data(), calls[0]->call->request.inputs[0].bytes.data());
  EXPECT_EQ(batch.inputs[0].dims, (Dims{2, 1}));
}

TEST(BatchBuilder, JoinsAndSplits) {
  const ModelConfig config = IntModel(8);
  const BatchBuilder builder(config);
  const std::vector<QueuedCallPtr> calls = {Queued({Ints("x", {2, 2}, {1, 2, 3, 4})}, 2),
                                            Queued({Ints("x", {1, 2}, {5, 6})}, 1)};
  const BatchLayout layout = builder.Layout(calls);
  Batch batch;
  ASSERT_TRUE(builder.Build(layout, batch).ok());
  EXPECT_EQ(batch.inputs[0].dims, (Dims{3, 2}));
  EXPECT_EQ(ToInts(batch.inputs[0]), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  auto outputs = *Identity(batch);
  const std::byte* memory = outputs[0].bytes.data();
  const auto parts = builder.Split(layout, std::move(outputs));
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(ToInts((*parts)[0][0]), (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ((*parts)[1][0].dims, (Dims{1, 2}));
  EXPECT_EQ((*parts)[1][0].bytes.data(), memory + 16) << "outputs share the memory of the batch";
}

TEST(BatchBuilder, JoinsAndSplitsStrings) {
  ModelConfig config = IntModel(8);
  config.inputs[0].dtype = config.outputs[0].dtype = DType::kString;
  const BatchBuilder builder(config);
  const std::vector<QueuedCallPtr> calls = {Queued({Strings("x", {1, 2}, {"a", "long one"})}, 1),
                                            Queued({Strings("x", {1, 2}, {"", "z"})}, 1)};
  const BatchLayout layout = builder.Layout(calls);
  Batch batch;
  ASSERT_TRUE(builder.Build(layout, batch).ok());
  const auto parts = builder.Split(layout, *Identity(batch));
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ((*parts)[1][0].bytes.size(), 9u);
}

TEST(BatchBuilder, PadsToAllowedSizes) {
  ModelConfig config = IntModel(8);
  config.batching.emplace();
  config.batching->allowed_batch_sizes = {8, 4};
  const BatchBuilder builder(config);
  const std::vector<QueuedCallPtr> calls = {Queued({Ints("x", {2, 1}, {1, 2})}, 2),
                                            Queued({Ints("x", {1, 1}, {3})}, 1)};
  const BatchLayout layout = builder.Layout(calls);
  Batch batch;
  ASSERT_TRUE(builder.Build(layout, batch).ok());
  EXPECT_EQ(batch.inputs[0].dims, (Dims{4, 1}));
  EXPECT_EQ(ToInts(batch.inputs[0]), (std::vector<int32_t>{1, 2, 3, 3}));
  const auto parts = builder.Split(layout, *Identity(batch));
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(ToInts((*parts)[1][0]), (std::vector<int32_t>{3}));
}

TEST(BatchBuilder, RefusesOutputsThatDoNotFit) {
  const ModelConfig config = IntModel(8);
  const BatchBuilder builder(config);
  const std::vector<QueuedCallPtr> calls = {Queued({Ints("x", {1, 1}, {1})}, 1),
                                            Queued({Ints("x", {1, 1}, {2})}, 1)};
  const BatchLayout layout = builder.Layout(calls);
  EXPECT_FALSE(builder.Split(layout, {Ints("y", {3, 1}, {1, 2, 3})}).ok());
  EXPECT_FALSE(builder.Split(layout, {Ints("y", {}, {1})}).ok());
  EXPECT_FALSE(builder.Split(layout, {Ints("y", {2, 2}, {1, 2})}).ok());
}

TEST(BatchBuilder, Reshapes) {
  ModelConfig config = IntModel(8);
  config.inputs[0].dims = {-1, 2};
  config.inputs[0].reshape = Dims{1, 2, -1};
  config.outputs[0].dims = {2, -1, 1};
  config.outputs[0].reshape = Dims{2, -1};
  const BatchBuilder builder(config);
  const std::vector<QueuedCallPtr> calls = {Queued({Ints("x", {1, 3, 2}, {1, 2, 3, 4, 5, 6})}, 1)};
  const BatchLayout layout = builder.Layout(calls);
  Batch batch;
  ASSERT_TRUE(builder.Build(layout, batch).ok());
  EXPECT_EQ(batch.inputs[0].dims, (Dims{1, 1, 2, 3}));
  const auto parts = builder.Split(layout, {Ints("y", {1, 2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ((*parts)[0][0].dims, (Dims{1, 2, 3, 1}));
}

struct RaggedBatch {
  ModelConfig config = IntModel(8);
  std::vector<QueuedCallPtr> calls = {Queued({Ints("x", {1, 3}, {1, 2, 3})}, 1),
                                      Queued({Ints("x", {1, 1}, {4})}, 1),
                                      Queued({Ints("x", {2, 2}, {5, 6, 7, 8})}, 2)};
  RaggedBatch() { config.inputs[0].ragged = true; }
  WireTensor Input(BatchInput::Kind kind) {
    config.batch_inputs = {{kind, {"i"}, DType::kI32, {"x"}}};
    const BatchBuilder builder(config);
    Batch batch;
    EXPECT_TRUE(builder.Build(builder.Layout(calls), batch).ok());
    EXPECT_EQ(batch.inputs[0].dims, (Dims{8}));
    EXPECT_EQ(ToInts(batch.inputs[0]), (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
    return batch.inputs.at(1);
  }
};

TEST(BatchInputs, DescribeRaggedBatches) {
  using Kind = BatchInput::Kind;
  RaggedBatch ragged;
  EXPECT_TRUE(CanShareBatch(ragged.config, ragged.calls[0]->call->request, ragged.calls[1]->call->request));
  EXPECT_EQ(ToInts(ragged.Input(Kind::kElementCount)), (std::vector<int32_t>{3, 1, 4}));
  EXPECT_EQ(ToInts(ragged.Input(Kind::kAccumulatedElementCount)), (std::vector<int32_t>{3, 4, 8}));
  EXPECT_EQ(ToInts(ragged.Input(Kind::kAccumulatedElementCountWithZero)), (std::vector<int32_t>{0, 3, 4, 8}));
  EXPECT_EQ(ragged.Input(Kind::kMaxElementCountAsShape).dims, (Dims{4}));
  const WireTensor shape = ragged.Input(Kind::kItemShape);
  EXPECT_EQ(shape.dims, (Dims{4, 1}));
  EXPECT_EQ(ToInts(shape), (std::vector<int32_t>{3, 1, 2, 2}));
  EXPECT_EQ(ragged.Input(Kind::kItemShapeFlatten).dims, (Dims{4}));
}

TEST(BatchInputs, OutputsAreScatteredByInputShape) {
  RaggedBatch ragged;
  ragged.config.batch_outputs = {{{"y"}, {"x"}}};
  const BatchBuilder builder(ragged.config);
  const BatchLayout layout = builder.Layout(ragged.calls);
  const auto parts = builder.Split(layout, {Ints("y", {8}, {1, 2, 3, 4, 5, 6, 7, 8})});
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ((*parts)[0][0].dims, (Dims{1, 3}));
  EXPECT_EQ((*parts)[2][0].dims, (Dims{2, 2}));
  EXPECT_EQ(ToInts((*parts)[2][0]), (std::vector<int32_t>{5, 6, 7, 8}));
  EXPECT_FALSE(builder.Split(layout, {Ints("y", {3}, {1, 2, 3})}).ok());
}

TEST(CanShareBatch, ComparesShapesWithoutTheBatchDim) {
  const ModelConfig config = IntModel(8);
  Request a, b;
  a.inputs.push_back(Ints("x", {1, 2}, {1, 2}));
  b.inputs.push_back(Ints("x", {3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(CanShareBatch(config, a, b));
  b.inputs[0].dims = {2, 3};
  EXPECT_FALSE(CanShareBatch(config, a, b));
  b.inputs.clear();
  EXPECT_FALSE(CanShareBatch(config, a, b));
}

TEST(MakeResponse, SelectsInTheOrderOfTheRequest) {
  Request request;
  request.outputs = {{.name = "b"}, {.name = "a"}};
  const Response response = MakeResponse(IntModel(), request, {Ints("a", {1}, {1}), Ints("b", {1}, {2})});
  EXPECT_EQ(response.outputs.at(0).name, "b");
  request.outputs = {{.name = "c"}};
  EXPECT_EQ(MakeResponse(IntModel(), request, {Ints("a", {1}, {1})}).status.code(), Code::kInternal);
}

TEST(Classify, LargestValuesWithLabels) {
  ModelConfig config = IntModel(4);
  config.outputs[0].labels = {"cat", "dog"};
  const auto classes = Classify(config, Ints("y", {2, 3}, {1, 3, 2, 9, 8, 7}), 2);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->dims, (Dims{2, 2}));
  const std::string bytes(reinterpret_cast<const char*>(classes->bytes.data()), classes->bytes.size());
  EXPECT_NE(bytes.find("3:1:dog"), std::string::npos);
  EXPECT_NE(bytes.find("2:2"), std::string::npos);
  EXPECT_NE(bytes.find("9:0:cat"), std::string::npos);
  EXPECT_EQ(Classify(config, Ints("y", {1, 2}, {1, 2}), 100)->dims, (Dims{1, 2}));
  const auto nan = Classify(config, Make<float>("y", DType::kF32, {1, 2}, {NAN, 1}), 1);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(nan->bytes.data()) + 4, 8), "1.000000");
  EXPECT_FALSE(Classify(config, Strings("y", {1, 1}, {"a"}), 1).ok());
}

}  // namespace
}  // namespace tern::server
