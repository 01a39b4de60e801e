#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "ir/builder.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "passes/pipeline.h"
#include "passes/rewrite/driver.h"

namespace tern {
namespace {

std::unique_ptr<Graph> Parse(const char* text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(*graph) : nullptr;
}

// Returns the ops and kinds in graph order, for example "Conv Unary:relu".
std::string Ops(const Graph& graph) {
  std::string out;
  for (const auto& node : graph.nodes()) {
    out += out.empty() ? "" : " ";
    out += node->op->name;
    if (!KindName(*node).empty()) out += ":" + KindName(*node);
  }
  return out;
}

int Apply(Graph& graph, Rule rule, PassContext& context) {
  rule.name = "Test";
  const Status prepared = PrepareRule(rule);
  EXPECT_TRUE(prepared.ok()) << prepared.ToString();
  auto hits = ApplyRules(graph, RuleIndex({&rule}), context);
  EXPECT_TRUE(hits.ok()) << hits.status().ToString();
  return hits.ok() ? *hits : -1;
}

int Apply(Graph& graph, Rule rule) {
  PassContext context;
  return Apply(graph, std::move(rule), context);
}

Rule AddRelu() { return Rule{.match = {"%c = %a + %b   %y = Relu(%c)"}, .emit = "%y = Relu(%b - %a)"}; }

TEST(Rewrite, AppliesTextRules) {
  auto g = Parse("graph @g(%p: f32[2], %q: f32[2]) -> (%y) { %s = %p + %q  %y = Relu(%s) }");
  EXPECT_EQ(Apply(*g, AddRelu()), 1);
  EXPECT_EQ(Ops(*g), "Binary:sub Unary:relu");
  EXPECT_EQ(g->outputs()[0]->name, "y");
}

TEST(Rewrite, RefusesAnotherReader) {
  auto g = Parse("graph @g(%p: f32[2], %q: f32[2]) -> (%y, %s) { %s = %p + %q  %y = Relu(%s) }");
  EXPECT_EQ(Apply(*g, AddRelu()), 0);
  auto h = Parse("graph @g(%p: f32[2], %q: f32[2]) -> (%y, %z) { %s = %p + %q  %y = Relu(%s) %z = Neg(%s) }");
  EXPECT_EQ(Apply(*h, AddRelu()), 0);
}

TEST(Rewrite, SharedValuesMayHaveOtherReaders) {
  auto g = Parse("graph @g(%p: f32[2], %q: f32[2]) -> (%y, %s) { %s = %p + %q  %y = Relu(%s) }");
  EXPECT_EQ(Apply(*g, Rule{.match = {"%c = %a + %b shared %y = Relu(%c)"}, .emit = "%y = Relu(%b - %a)"}), 1);
  EXPECT_EQ(Ops(*g), "Binary:add Binary:sub Unary:relu");
}

TEST(Rewrite, CommutativeOperandsMatchInEitherOrderAndBacktrack) {
  // %a is the product with 3 and comes first, so the matcher must swap the operands of the sum.
  const Rule rule{.match = {"%y = %x * 2 + %x * 3"}, .emit = "%y = %x * 5"};
  auto g = Parse(
      "graph @g(%p: f32[2]) -> (%y) { #two: f32[] = (2) #three: f32[] = (3)"
      "%a = #three * %p %b = %p * #two %y = %a + %b }");
  EXPECT_EQ(Apply(*g, rule), 1);
  EXPECT_EQ(Ops(*g), "Binary:mul");
}

TEST(Rewrite, NumbersMatchConstantsOfOneElement) {
  const Rule rule{.match = {"%y = %x * 1"}, .emit = "%y = %x"};
  auto one = Parse("graph @g(%p: f32[2]) -> (%y) { #c: f32[] = (1) %z = %p * #c %y = Relu(%z) }");
  EXPECT_EQ(Apply(*one, rule), 1);
  auto two = Parse("graph @g(%p: f32[2]) -> (%y) { #c: f32[] = (2) %z = %p * #c %y = Relu(%z) }");
  EXPECT_EQ(Apply(*two, rule), 0);
  auto wider = Parse("graph @g(%p: f32[2]) -> (%y) { #c: f32[1,1] = (1) %z = %p * #c %y = Relu(%z) }");
  EXPECT_EQ(Apply(*wider, rule), 0) << "the rank would change";
}

TEST(Rewrite, OptionalInputsMayBeAbsent) {
  const Rule rule{.match = {"%c = MatMul(%a, %b, %d?) {@all}  %y = Relu(%c)"},
                  .emit = "%y = Abs(MatMul(%a, %b, %d) {@all})"};
  auto without = Parse("graph @g(%p: f32[2,2], %q: f32[2,2]) -> (%y) { %m = MatMul(%p, %q) %y = Relu(%m) }");
  EXPECT_EQ(Apply(*without, rule), 1);
  EXPECT_EQ(Ops(*without), "MatMul Unary:abs");
  auto with = Parse(
      "graph @g(%p: f32[2,2], %q: f32[2,2], %r: f32[2]) -> (%y) { %m = MatMul(%p, %q, %r) %y = Relu(%m) }");
  EXPECT_EQ(Apply(*with, rule), 1);
  EXPECT_EQ(with->nodes().front()->inputs().size(), 3u);
}

TEST(Rewrite, AnInputOfTheGraphCannotTakeAnOutputsName) {
  const Rule rule{.match = {"%y = Identity(%x)"}, .emit = "%y = %x"};
  auto g = Parse("graph @g(%p: f32[2]) -> (%y) { %y = Identity(%p) }");
  EXPECT_EQ(Apply(*g, rule), 0);
  auto h = Parse("graph @g(%p: f32[2]) -> (%y) { %r = Relu(%p) %y = Identity(%r) }");
  EXPECT_EQ(Apply(*h, rule), 1);
  EXPECT_EQ(h->outputs()[0]->name, "y");
}

TEST(Rewrite, ReachesIntoSubgraphs) {
  auto g = Parse(
      "graph @g(%c: bool[], %p: f32[2]) -> (%y) {"
      "%y = If(%c) [then @t() -> (%u) { %i = Identity(%p) %u = Relu(%i) }"
      "             else @e() -> (%v) { %v = Neg(%p) }] }");
  EXPECT_EQ(Apply(*g, Rule{.match = {"%y = Identity(%x)"}, .emit = "%y = %x"}), 1);
  EXPECT_EQ(g->NodeCount(), 3);
}

TEST(Rewrite, ComputesConstantsAtOnce) {
  const Rule rule{.match = {"%y = %x * #c"}, .emit = "%y = Relu(%x + Sqrt(#c) * 2)"};
  auto g = Parse("graph @g(%p: f32[1]) -> (%y) { #c: f32[1] = (9) %y = %p * #c }");
  EXPECT_EQ(Apply(*g, rule), 1);
  EXPECT_EQ(Ops(*g), "Binary:add Unary:relu");
  EXPECT_EQ(LoadDouble(g->nodes().front()->input(1)->constant, 0), 6);
}

// Applies a rule with this replacement to a product of a value and a constant. The graph also has a constant
// without readers. Returns the number of constants left.
size_t ConstantsLeft(const char* emit) {
  InitOps();
  Graph g;
  Builder b(g);
  const int64_t size = 1 << 20;
  Value* x = g.AddInput("x", Type::TensorOf(DType::kF32, Shape({size})));
  b.Const(Tensor(DType::kF32, {1}));
  g.SetOutputs({b.Op("Binary", {x, b.Const(Tensor(DType::kF32, {size}))}, {{"kind", "mul"}})});
  EXPECT_EQ(Apply(g, Rule{.match = {"%y = %x * #c"}, .emit = emit}), 1);
  const auto& values = g.values();
  return static_cast<size_t>(
      std::count_if(values.begin(), values.end(), [](const auto& v) { return v->is_constant(); }));
}

TEST(Rewrite, LooksForUnreadConstantsWhenManyBytesAreNew) {
  EXPECT_EQ(ConstantsLeft("%y = %x + Sqrt(#c)"), 1u);
  EXPECT_EQ(ConstantsLeft("%y = %x + #c"), 2u);  // without new constants, unused constants stay
}

std::string ReasonOf(Graph& g, const char* name) {
  const Rule* rule = FindRule(name);
  PassContext context;
  context.why_rule = rule->name;
  auto hits = ApplyRules(g, RuleIndex({rule}), context);
  EXPECT_TRUE(hits.ok()) << hits.status().ToString();
  return context.answers().empty() ? "" : context.answers().front().reason;
}

TEST(Rewrite, DoesNotFoldLargeProductsOfWeights) {
  const auto chain = [](int64_t width) {
    InitOps();
    Graph g;
    Builder b(g);
    Value* x = g.AddInput("x", Type::TensorOf(DType::kF32, Shape({1, width})));
    Value* h = b.Op("MatMul", {x, b.Const(Tensor(DType::kF32, {width, width}))});
    g.SetOutputs({b.Op("MatMul", {h, b.Const(Tensor(DType::kF32, {width, width}))})});
    return ReasonOf(g, "MergeMatMuls");
  };
  EXPECT_EQ(chain(8), "the rule was applied");
  EXPECT_EQ(chain(1024), "its constants are too costly to fold");
}

// These products are not worth merging. The test takes seconds if the rule visits all other products at each
// product.
TEST(Rewrite, LooksOnceAtProductsSideBySide) {
  InitOps();
  Graph g;
  Builder b(g);
  Value* x = g.AddInput("x", Type::TensorOf(DType::kF32, Shape({2, 4})));
  std::vector<Value*> outputs;
  for (int i = 0; i < 10'000; ++i)
    outputs.push_back(b.Op("MatMul", {x, b.Const(Tensor(DType::kF32, {4, 3}))}));
  g.SetOutputs(outputs);
  PassContext context;
  const std::clock_t start = std::clock();
  auto hits = ApplyRules(g, RuleIndex({FindRule("MergeParallelMatMuls")}), context);
  ASSERT_TRUE(hits.ok());
  EXPECT_EQ(*hits, 0);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1);
}

// The order of nodes, not the order of `uses`, decides which product is the first.
TEST(Rewrite, MergesProductsWhoseReadersAreListedOutOfOrder) {
  const auto g = Parse(R"(graph @g(%x: f32[N,9]) -> (%y, %z) {
    #v: f32[9,1] = (1, 2, 3, 4, 5, 6, 7, 8, 9)  #w: f32[9,1] = (9, 8, 7, 6, 5, 4, 3, 2, 1)
    %i = Identity(%x)
    %y = MatMul(%i, #v)
    %z = MatMul(%x, #w)
  })");
  Value* x = g->inputs()[0];
  g->ReplaceUses(g->nodes().front()->output(0), x);
  g->RemoveDeadNodes();
  ASSERT_EQ(x->uses.front().first, g->outputs()[1]->producer) << "the second product is listed first";
  PassContext context;
  auto hits = ApplyRules(*g, RuleIndex({FindRule("MergeParallelMatMuls")}), context);
  ASSERT_TRUE(hits.ok());
  EXPECT_EQ(*hits, 1) << "the merged product is not merged again with the products that it replaced";
  EXPECT_EQ(Ops(*g), "MatMul Split");
}

TEST(Rewrite, DoesNotFoldLargeProductsOfKernels) {
  const auto chain = [](int64_t width) {
    InitOps();
    Graph g;
    Builder b(g);
    Value* x = g.AddInput("x", Type::TensorOf(DType::kF32, Shape({1, width, 8, 8})));
    Value* h = b.Op("Conv", {x, b.Const(Tensor(DType::kF32, {2 * width, width, 1, 1}))});
    g.SetOutputs({b.Op("Conv", {h, b.Const(Tensor(DType::kF32, {width, 2 * width, 3, 3}))})});
    return ReasonOf(g, "MergePointwiseConvBeforeConv");
  };
  EXPECT_EQ(chain(4), "the rule was applied");
  EXPECT_EQ(chain(512), "its constants are too costly to fold");
}

TEST(Rewrite, RulesThatUndoEachOtherTerminate) {
  Rule a{.match = {"%y = Relu(%x)"}, .emit = "%y = Abs(%x)"};
  Rule b{.match = {"%y = Abs(%x)"}, .emit = "%y = Relu(%x)"};
  a.name = "A", b.name = "B";
  ASSERT_TRUE(PrepareRule(a).ok() && PrepareRule(b).ok());
  auto g = Parse("graph @g(%p: f32[2]) -> (%y) { %y = Relu(%p) }");
  PassContext context;
  context.SetBudget(100);
  auto hits = ApplyRules(*g, RuleIndex({&a, &b}), context);
  ASSERT_TRUE(hits.ok());
  EXPECT_TRUE(context.exhausted());
  EXPECT_EQ(g->NodeCount(), 1);
}

TEST(Rewrite, ARuleThatMakesAWrongNodeIsNamed) {
  Rule rule{.match = {"%y = Relu(%x)"}, .emit = "%y = Concat(%x, #bad) {axis=9}", .compute = [](Match& m) {
              m.Set("bad", Tensor::Ints({1}));
            }};
  rule.name = "Broken";
  ASSERT_TRUE(PrepareRule(rule).ok());
  auto g = Parse("graph @g(%p: f32[2]) -> (%y) { %y = Relu(%p) }");
  PassContext context;
  auto hits = ApplyRules(*g, RuleIndex({&rule}), context);
  ASSERT_FALSE(hits.ok());
  EXPECT_NE(hits.status().message().find("'Broken'"), std::string::npos) << hits.status().message();
  EXPECT_EQ(Ops(*g), "Unary:relu");
}

TEST(Rewrite, SaysWhyNot) {
  auto g = Parse("graph @g(%p: f32[2], %q: f32[2]) -> (%y, %s) { %s = %p + %q  %y = Relu(%s) }");
  PassContext context;
  context.why_rule = "Test";
  EXPECT_EQ(Apply(*g, AddRelu(), context), 0);
  ASSERT_EQ(context.answers().size(), 1u);
  EXPECT_EQ(context.answers()[0].reason, "'s' is an output of the graph");
}

TEST(Rewrite, BadTextNamesThePlace) {
  EXPECT_FALSE(ParsePattern("%y = Nonsense(%x)").ok());
  EXPECT_FALSE(ParsePattern("%y = Relu(%x").ok());
  EXPECT_FALSE(ParsePattern("%y = Relu(%x) {nothing=1}").ok());
}

TEST(Rules, AllTextsParse) { EXPECT_GE(AllRules().size(), 3u); }

}  // namespace
}  // namespace tern
