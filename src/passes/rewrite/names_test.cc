#include "passes/rewrite/names.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/ops.h"
#include "passes/pipeline.h"

namespace tern {
namespace {

std::unique_ptr<Graph> ParseNames(const char* text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(*graph) : nullptr;
}

// Returns "Op name, Op name", with the nodes of nested graphs in brackets.
std::string Names(const Graph& graph) {
  std::string out;
  for (const auto& node : graph.nodes()) {
    out += StrCat(out.empty() ? "" : ", ", node->op->name, " ", node->name);
    for (const auto& body : node->subgraphs()) out += StrCat(" [", Names(*body), "]");
  }
  return out;
}

std::string NamesAfterOptimize(const char* text, Level level = Level::kExtended) {
  auto graph = ParseNames(text);
  if (!graph) return "";
  OptimizeOptions options;
  options.level = level;
  const auto report = Optimize(*graph, options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  return Names(*graph);
}

TEST(Names, AConvKeepsItsNameWhenWhatFollowsIsFused) {
  EXPECT_EQ(NamesAfterOptimize(R"(graph @g(%x: f32[1,1,8,8], %r: f32[1,2,8,8]) -> (%y) {
    #w: f32[2,1,1,1] = (1, 2)  #b: f32[2,1,1] = (3, 4)
    %c = Conv(%x, #w) as "conv" from "Conv, onnx node #0"
    %d = Add(%c, #b) as "bias"
    %s = Add(%d, %r) as "residual"
    %y = Relu(%s) as "relu" from "Relu, onnx node #3"
  })"),
            "Conv conv");
}

TEST(Names, TheOriginIsThatOfTheName) {
  auto graph = ParseNames(R"(graph @g(%x: f32[1,1,8,8]) -> (%y) {
    #w: f32[2,1,1,1] = (1, 2)
    %c = Conv(%x, #w) as "conv" from "Conv, onnx node #0"
    %y = Relu(%c) as "relu" from "Relu, onnx node #1"
  })");
  ASSERT_TRUE(graph && Optimize(*graph).ok());
  EXPECT_EQ(graph->nodes().front()->origin, "Conv, onnx node #0");
  EXPECT_EQ(graph->outputs()[0]->name, "y");
}

TEST(Names, AMatMulKeepsItsNameBeforeBiasAndGelu) {
  EXPECT_EQ(NamesAfterOptimize(R"(graph @g(%x: f32[N,2]) -> (%y) {
    #w: f32[2,2] = (1, 2, 3, 4)  #b: f32[2] = (5, 6)
    %m = MatMul(%x, #w) as "dense/MatMul"
    %a = Add(%m, #b) as "dense/BiasAdd"
    %y = Gelu(%a) as "dense/Gelu"
  })"),
            "MatMul dense/MatMul");
}

TEST(Names, AttentionHasTheNameOfAProduct) {
  EXPECT_EQ(NamesAfterOptimize(R"(graph @g(%q: f32[2,4,5,8], %k: f32[2,4,8,7], %v: f32[2,4,7,8]) -> (%y) {
    #scale: f32[] = (0.35355339)
    %s = MatMul(%q, %k) as "scores"
    %t = Mul(%s, #scale) as "scale"
    %p = Softmax(%t) as "softmax"
    %y = MatMul(%p, %v) as "context"
  })"),
            "Transpose context/Transpose, Attention context");
}

TEST(Names, WhatHasNoCounterpartHasTheNameOfTheRoot) {
  EXPECT_EQ(NamesAfterOptimize(R"(graph @g(%x: f32[N,8]) -> (%y) {
    %s = Sigmoid(%x) as "sigmoid"
    %y = Mul(%x, %s) as "swish"
  })"),
            "Activation swish");
}

TEST(Names, OpsThatChangePlacesKeepTheirNames) {
  auto graph = ParseNames(R"(graph @g(%x: f32[2,3]) -> (%y) {
    %t = Transpose(%x) {perm=[1,0]} as "transpose"
    %y = Relu(%t) as "relu"
  })");
  ASSERT_TRUE(graph);
  std::vector<ReplacedNode> replaced;
  Node& relu = *graph->nodes().back();
  std::vector<Node*> made;
  for (const char* op : {"Transpose", "Unary"}) {
    Node* node = graph->AddNode(*FindOp(op), FindOp(op)->defaults, {graph->inputs()[0]}, 1, &relu);
    node->name = "relu";
    made.push_back(node);
  }
  for (const auto& node : graph->nodes())
    if (node->name == "transpose" || node.get() == &relu)
      replaced.insert(replaced.begin(), ReplacedNode(*node));
  made[1]->attrs = relu.attrs;
  NameAfterReplaced(made, replaced);
  EXPECT_EQ(made[0]->name, "transpose");
  EXPECT_EQ(made[1]->name, "relu");
}

TEST(Names, OfEqualsTheLastKeepsIt) {
  auto graph = ParseNames(R"(graph @g(%x: f32[2,3]) -> (%y) {
    %a = Neg(%x) as "a"
    %b = Exp(%a) as "a"
    %y = Exp(%b) as "a"
  })");
  ASSERT_TRUE(graph);
  MakeNamesUnique(*graph);
  EXPECT_EQ(Names(*graph), "Unary a/Unary, Unary a/Unary_2, Unary a");
}

TEST(Names, AreUnique) {
  auto graph = ParseNames(R"(graph @g(%x: f32[2,3], %c: bool[]) -> (%z, %u) {
    #w: f32[2,2] = (1, 2, 3, 4)
    %t = Transpose(%x) {perm=[1,0]} as "a"
    %m = MatMul(%t, #w) as "a"
    %n = Transpose(%m) {perm=[1,0]} as "a"
    %o = Transpose(%n) {perm=[1,0]} as "a"
    %r = Relu(%o) as "a/Transpose"
    %z = If(%c) as "b" [then @t() -> (%p) { %p = Neg(%r) as "b" } else @e() -> (%q) { %q = Relu(%r) as "c" }]
    %u = Relu(%z)
  })");
  ASSERT_TRUE(graph);
  MakeNamesUnique(*graph);
  const std::string names = Names(*graph);
  EXPECT_EQ(names,
            "Transpose a/Transpose_2, MatMul a, Transpose a/Transpose_3, Transpose a/Transpose_4, "
            "Unary a/Transpose, If b/If [Unary b] [Unary c], Unary ");
  MakeNamesUnique(*graph);
  EXPECT_EQ(Names(*graph), names);
}

}  // namespace
}  // namespace tern
