#include "passes/fold/cse.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace tern {
namespace {

Value* Leaky(Builder& builder, Value* x, double alpha) {
  return builder.Op("Activation", {x}, {{"kind", std::string("leaky_relu")}, {"alpha", alpha}});
}

// More nodes read one value than Find compares one by one.
TEST(ShareNodes, FindsEqualNodesAmongManyReadersOfOneValue) {
  InitOps();
  Graph graph;
  Builder builder(graph);
  Value* x = graph.AddInput("x", Type::TensorOf(DType::kF32, Shape({3})));
  std::vector<Value*> outputs;
  for (int i = 0; i < 20; ++i) outputs.push_back(Leaky(builder, x, 0.25 + i));
  for (int i = 0; i < 20; ++i)
    outputs.push_back(builder.Op("Unary", {Leaky(builder, x, 0.25 + i)}, {{"kind", std::string("abs")}}));
  ASSERT_TRUE(builder.status().ok()) << builder.status().message();
  graph.SetOutputs(outputs);
  PassContext context;
  const auto shared = ShareNodes(graph, context);
  ASSERT_TRUE(shared.ok()) << shared.status().message();
  EXPECT_EQ(*shared, 20);
  EXPECT_EQ(graph.NodeCount(), 40u);
  EXPECT_TRUE(VerifyGraph(graph).ok());
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(outputs[20 + i]->producer->inputs()[0], outputs[i]);
}

TEST(ShareConstants, ComparesTheMiddleOfLargeTensors) {
  InitOps();
  Graph graph;
  Builder builder(graph);
  Value* x = graph.AddInput("x", Type::TensorOf(DType::kF32, Shape({4096})));
  std::vector<Value*> outputs;
  for (const double middle : {0.0, 1.0, 0.0}) {
    Tensor weights(DType::kF32, {4096});
    for (int64_t i = 0; i < weights.size(); ++i) StoreDouble(weights, i, 0);
    StoreDouble(weights, 2048, middle);
    outputs.push_back(builder.Op("Binary", {x, builder.Const(weights)}, {{"kind", std::string("add")}}));
  }
  ASSERT_TRUE(builder.status().ok()) << builder.status().message();
  graph.SetOutputs(outputs);
  PassContext context;
  EXPECT_EQ(*ShareConstants(graph, context), 1);
  EXPECT_EQ(outputs[0]->producer->inputs()[1], outputs[2]->producer->inputs()[1]);
  EXPECT_NE(outputs[0]->producer->inputs()[1], outputs[1]->producer->inputs()[1]);
}

}  // namespace
}  // namespace tern
