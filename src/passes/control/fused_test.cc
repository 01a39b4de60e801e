// Checks that the optimizer does not change the results of Fused groups, and that a body still reads only its
// inputs.
#include <gtest/gtest.h>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "passes/pipeline.h"

namespace tern {
namespace {

std::unique_ptr<Graph> Parse(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return std::move(*graph);
}

// Optimizes the graph and expects unchanged results. Returns the body of the Fused node, or null if the
// optimizer removed the node.
const Graph* Optimized(Graph& graph, Level level, const DatumList& inputs) {
  const auto want = EvaluateGraph(graph, inputs);
  OptimizeOptions options;
  options.level = level;
  options.eager = true;
  const auto report = Optimize(graph, options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_TRUE(VerifyGraph(graph).ok());
  const auto got = EvaluateGraph(graph, inputs);
  EXPECT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
  for (size_t i = 0; want.ok() && got.ok() && i < want->size(); ++i)
    EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor)) << i << PrintGraph(graph);
  for (const auto& node : graph.nodes())
    if (node->op->name == "Fused") return node->subgraphs()[0].get();
  return nullptr;
}

Tensor Numbers(DType dtype, const Dims& dims) {
  Tensor t(dtype, dims);
  for (int64_t i = 0; i < t.size(); ++i) StoreDouble(t, i, static_cast<double>(i % 7 - 3));
  return t;
}

constexpr Level kLevels[] = {Level::kBasic, Level::kExtended, Level::kLayout};

TEST(FusedInPasses, TheBodyReadsNothingFromOutside) {
  for (const Level level : kLevels) {
    auto graph = Parse(R"(graph @g(%x: f32[2,3], %z: f32[2,3]) -> (%y, %p) {
      #k: f32[2,3] = (1, 2, 3, 4, 5, 6)
      %p = %x * #k
      %y = Fused(%p, %z) [body @f(%u: f32[2,3], %v: f32[2,3]) -> (%s) {
        #m: f32[2,3] = (1, 2, 3, 4, 5, 6)
        %t = %u * #m
        %s = %t - %v
      }]
    })");
    const Graph* body =
        Optimized(*graph, level, {Numbers(DType::kF32, {2, 3}), Numbers(DType::kF32, {2, 3})});
    ASSERT_TRUE(body);
    EXPECT_TRUE(body->Captures().empty()) << PrintGraph(*graph);
  }
}

TEST(FusedInPasses, EqualGroupsAndConstantsInOneBody) {
  auto graph = Parse(R"(graph @g(%x: f32[2]) -> (%y) {
    %a = Fused(%x) [body @f(%u: f32[2]) -> (%s) {
      #k: f32[2] = (1, 2)
      #l: f32[2] = (1, 2)
      %t = %u * #k
      %v = %u * #l
      %s = %t / %v
    }]
    %b = Fused(%x) [body @f(%u: f32[2]) -> (%s) { %s = %u - %u }]
    %y = %a + %b
    %dead = Fused(%x) [body @f(%u: f32[2]) -> (%s) { %s = %u + %u }]
  })");
  const Graph* body = Optimized(*graph, Level::kBasic, {Numbers(DType::kF32, {2})});
  ASSERT_TRUE(body);
  EXPECT_LE(body->nodes().size(), 2u) << "%t and %v are equal";
  int groups = 0;
  for (const auto& node : graph->nodes()) groups += node->op->name == "Fused";
  EXPECT_EQ(groups, 2) << "the unread group is removed, groups with different bodies stay";
}

TEST(FusedInPasses, ConstantInputsAreNotFolded) {
  auto graph = Parse(R"(graph @g(%x: f32[2]) -> (%y) {
    #k: f32[2] = (1, 2)
    %a = Fused(#k, #k) [body @f(%u: f32[2], %v: f32[2]) -> (%s) { %s = %u - %v }]
    %y = %x + %a
  })");
  EXPECT_TRUE(Optimized(*graph, Level::kLayout, {Numbers(DType::kF32, {2})}));
}

TEST(FusedInPasses, HalfPrecision) {
  for (const Level level : kLevels) {
    auto graph = Parse(R"(graph @g(%x: f16[2,3]) -> (%y) {
      %p = %x * %x
      %q = Fused(%p, %x) [body @f(%u: f16[2,3], %v: f16[2,3]) -> (%s) {
        %t = %u * %v
        %s = %t - %v
      }]
      %y = %q + %p
    })");
    ASSERT_TRUE(Optimized(*graph, level, {Numbers(DType::kF16, {2, 3})}));
    EXPECT_EQ(graph->outputs()[0]->type.dtype, DType::kF16);
  }
}

TEST(FusedInPasses, ChannelsLastAroundAndInside) {
  auto graph = Parse(R"(graph @g(%x: f32[1,2,4,4], %w: f32[2,2,1,1]) -> (%y) {
    %a = Conv(%x, %w)
    %b = Fused(%a, %w) [body @f(%u: f32[1,2,4,4], %v: f32[2,2,1,1]) -> (%s) {
      %t = Conv(%u, %v)
      %s = Relu(%t)
    }]
    %y = Conv(%b, %w)
  })");
  ASSERT_TRUE(Optimized(*graph, Level::kLayout,
                        {Numbers(DType::kF32, {1, 2, 4, 4}), Numbers(DType::kF32, {2, 2, 1, 1})}));
}

}  // namespace
}  // namespace tern
