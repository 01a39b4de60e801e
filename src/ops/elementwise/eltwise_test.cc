#include "ops/test_graph.h"

namespace tern {
namespace {

class EltwiseShapes : public ::testing::Test {
 protected:
  EltwiseShapes() : b((InitOps(), graph)) {}
  Value* Input(const char* name, const char* type) { return graph.AddInput(name, *Type::Parse(type)); }
  Graph graph;
  Builder b;
};

TEST_F(EltwiseShapes, Broadcast) {
  Value *x = Input("x", "f32[N,1,H]"), *row = Input("row", "f32[C,1]"), *any = Input("any", "f32[*]");
  EXPECT_EQ(b.Op("Eltwise", {x, row, x})->type.ToString(), "f32[N,C,H]");
  EXPECT_EQ(b.Op("Eltwise", {x, any, row})->type.ToString(), "f32[*]");
  EXPECT_EQ(b.Op("Scale", {x, any})->type.ToString(), "f32[N,1,H]");
  EXPECT_EQ(b.Op("Scale", {any, any, any})->type.ToString(), "f32[*]");
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
}

TEST_F(EltwiseShapes, ShapeIntegersStayExpressions) {
  Value* shape = b.Op("Shape", {Input("x", "f32[N,3]")});
  const auto joined = [&](const char* kind) {
    Value* y = b.Op("Eltwise", {shape, b.Ints({1, 2}), shape}, {{"kind", kind}});
    return y->content ? Shape(*y->content).ToString() : "none";
  };
  EXPECT_EQ(joined("sum"), "[2*N+1,8]");
  EXPECT_EQ(joined("prod"), "[N*N,18]");
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
}

TEST(Eltwise, NeedsAllItsInputs) {
  EXPECT_FALSE(EvaluateOp("Eltwise", {}).ok());
  EXPECT_FALSE(EvaluateOp("Eltwise", {Tensor::Ints({1}), Tensor()}).ok());
}

}  // namespace
}  // namespace tern
