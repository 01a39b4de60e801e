#include "passes/widen/widen_half.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "passes/pipeline.h"

namespace tern {
namespace {

std::unique_ptr<Graph> Parse(const char* text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_TRUE(InferGraph(**graph).ok());
  return std::move(*graph);
}

int Widen(Graph& graph) {
  PassContext context;
  auto changed = WidenHalf(graph, context);
  EXPECT_TRUE(changed.ok()) << changed.status().ToString();
  EXPECT_TRUE(VerifyGraph(graph).ok()) << PrintGraph(graph);
  EXPECT_TRUE(InferGraph(graph).ok()) << PrintGraph(graph);
  return changed.ok() ? *changed : -1;
}

double Evaluate(const Graph& graph, double x) {
  auto y = EvaluateGraph(graph, {Datum(Tensor::Of(graph.inputs()[0]->type.dtype, {1}, {x}))});
  EXPECT_TRUE(y.ok()) << y.status().ToString();
  return y.ok() ? LoadDouble((*y)[0].tensor, 0) : NAN;
}

TEST(WidenHalf, RoundsOnceAtTheEnd) {
  auto g = Parse(R"(graph @g(%x: f16[1]) -> (%y) {
    #large: f16[1] = (2048)
    %a = %x + #large
    %y = %a - #large
  })");
  EXPECT_EQ(Evaluate(*g, 0.75), 0) << "f16 cannot represent 2048.75";
  EXPECT_EQ(Widen(*g), 2);
  EXPECT_EQ(Evaluate(*g, 0.75), 0.75);
  EXPECT_EQ(Evaluate(*g, 1 + 1.0 / 1024), 1 + 1.0 / 1024);
}

TEST(WidenHalf, IntermediateValuesDoNotOverflow) {
  auto g = Parse(R"(graph @g(%x: f16[1]) -> (%y) { %a = %x * %x  %y = Sqrt(%a) })");
  EXPECT_TRUE(std::isinf(Evaluate(*g, 1000)));
  Widen(*g);
  EXPECT_EQ(Evaluate(*g, 1000), 1000);
}

TEST(WidenHalf, KeepsTheRoundingThatTheModelAsksFor) {
  auto g = Parse(R"(graph @g(%x: f32[1]) -> (%y) { %y = Cast(Cast(%x) {to=f16}) {to=f32} })");
  EXPECT_EQ(Widen(*g), 0);
  OptimizeOptions options;
  options.level = Level::kLayout;
  ASSERT_TRUE(Optimize(*g, options).ok());
  EXPECT_EQ(Evaluate(*g, 2049), 2048);
}

TEST(WidenHalf, KeepsNamesAndTypesOfInputsAndOutputs) {
  auto g = Parse(R"(graph @g(%x: f16[N,4]) -> (%a, %y) { %a = Exp(%x)  %y = Tanh(%a) })");
  EXPECT_EQ(Widen(*g), 2);
  EXPECT_EQ(g->inputs()[0]->type.ToString(), "f16[N,4]");
  for (int i : {0, 1}) {
    EXPECT_EQ(g->outputs()[static_cast<size_t>(i)]->type.ToString(), "f16[N,4]");
    EXPECT_EQ(g->outputs()[static_cast<size_t>(i)]->name, i ? "y" : "a");
  }
}

// Elements of a sequence or an optional keep the type that the model declares.
TEST(WidenHalf, LeavesSequencesInHalfPrecision) {
  auto graph = Parse(R"(graph @g(%x: f16[4]) -> (%s, %o) {
  %y = Relu(%x)
  %s = SequenceConstruct(%x, %y)
  %o = Optional(%y)
})");
  const std::vector<Value*> before = graph->outputs();
  const std::string types = before[0]->type.ToString() + before[1]->type.ToString();
  EXPECT_GT(Widen(*graph), 0);
  const std::vector<Value*> after = graph->outputs();
  EXPECT_EQ(after[0]->type.ToString() + after[1]->type.ToString(), types);
}

TEST(WidenHalf, ChangesNothingTheSecondTime) {
  auto g = Parse(R"(graph @g(%c: bool[], %x: f16[N]) -> (%y) {
    #s: f16[] = (0.25)
    %q = Dequantize(Quantize(Exp(%x), #s), #s)
    %z = If(%c) [then @t() -> (%a) { %a = Relu(%q) } else @e() -> (%b) { %b = Tanh(%x) }]
    %y = Sin(%z)
  })");
  EXPECT_GT(Widen(*g), 0);
  const int nodes = g->NodeCount();
  EXPECT_EQ(Widen(*g), 0);
  EXPECT_EQ(g->NodeCount(), nodes);
}

TEST(WidenHalf, RunsAtLevelLayoutOnly) {
  const char* text = "graph @g(%x: f16[N]) -> (%y) { %y = Tanh(Exp(%x)) }";
  for (Level level : {Level::kBasic, Level::kExtended, Level::kLayout}) {
    auto g = Parse(text);
    OptimizeOptions options;
    options.level = level;
    auto report = Optimize(*g, options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->hits.count("WidenHalf"), level == Level::kLayout ? 1u : 0u);
    EXPECT_EQ(g->NodeCount(), level == Level::kLayout ? 4 : 2);
  }
}

}  // namespace
}  // namespace tern
