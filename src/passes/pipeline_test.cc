#include "passes/pipeline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace tern {
namespace {

constexpr int64_t kWidth = 8, kHeads = 2;

// Builds the layers of a transformer as an exporter writes them, with a new constant for every use.
class Transformer {
 public:
  explicit Transformer(int layers) : builder_(graph_) {
    Value* x = graph_.AddInput(
        "x", Type::TensorOf(DType::kF32, Shape({Dim::Symbol("N"), Dim::Symbol("S"), kWidth})));
    for (int i = 0; i < layers; ++i) x = Layer(x);
    x->name = "y";
    graph_.SetOutputs({x});
  }

  Graph& graph() { return graph_; }
  const Status& status() const { return builder_.status(); }

 private:
  Value* Binary(const char* kind, Value* a, Value* b) {
    return builder_.Op("Binary", {a, b}, {{"kind", std::string(kind)}});
  }
  Value* Unary(const char* kind, Value* x) {
    return builder_.Op("Unary", {x}, {{"kind", std::string(kind)}});
  }
  Value* Number(double v) { return builder_.Scalar(DType::kF32, v); }
  Value* Weights(const Dims& dims) {
    Tensor t(DType::kF32, dims);
    for (int64_t i = 0; i < t.size(); ++i) StoreDouble(t, i, std::sin(static_cast<double>(++numbers_)) / 4);
    return builder_.Const(t);
  }

  Value* Mean(Value* x) {
    return builder_.Op("Reduce", {x, builder_.Ints({-1})},
                       {{"kind", std::string("mean")}, {"keep_dims", true}});
  }
  Value* Norm(Value* x) {
    Value* d = Binary("sub", x, Mean(x));
    Value* variance = Mean(Binary("pow", d, Number(2)));
    Value* y = Binary("div", d, Unary("sqrt", Binary("add", variance, Number(1e-5))));
    return Binary("add", Binary("mul", y, Weights({kWidth})), Weights({kWidth}));
  }
  Value* Linear(Value* x, int64_t from, int64_t to) {
    return Binary("add", builder_.Op("MatMul", {x, Weights({from, to})}), Weights({to}));
  }
  Value* Split(Value* x) {
    Value* shape = builder_.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{2}}});
    shape = builder_.Op("Concat", {shape, builder_.Ints({kHeads, kWidth / kHeads})}, {{"axis", int64_t{0}}});
    return Transpose(builder_.Op("Reshape", {x, shape}), {0, 2, 1, 3});
  }
  Value* Transpose(Value* x, std::vector<int64_t> perm) {
    return builder_.Op("Transpose", {x}, {{"perm", std::move(perm)}});
  }
  Value* Attention(Value* x) {
    Value *q = Split(Linear(x, kWidth, kWidth)), *k = Split(Linear(x, kWidth, kWidth)),
          *v = Split(Linear(x, kWidth, kWidth));
    Value* scores = Binary("div", builder_.Op("MatMul", {q, Transpose(k, {0, 1, 3, 2})}), Number(2));
    Value* y = builder_.Op("MatMul", {builder_.Op("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
    y = builder_.Op("Reshape", {Transpose(y, {0, 2, 1, 3}), builder_.Ints({0, 0, kWidth})});
    return Linear(y, kWidth, kWidth);
  }
  Value* Gelu(Value* x) {
    Value* e = Unary("erf", Binary("div", x, Number(std::sqrt(2.0))));
    return Binary("mul", Binary("mul", x, Binary("add", e, Number(1))), Number(0.5));
  }
  Value* Layer(Value* x) {
    x = Binary("add", x, Attention(Norm(x)));
    return Binary("add", x, Linear(Gelu(Linear(Norm(x), kWidth, 2 * kWidth)), 2 * kWidth, kWidth));
  }

  Graph graph_;
  Builder builder_;
  int numbers_ = 0;
};

int Rewrites(const OptimizeReport& report) {
  int all = 0;
  for (const auto& [name, hits] : report.hits) all += hits;
  return all;
}

std::unique_ptr<Graph> Parse(const char* text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(*graph) : nullptr;
}

TEST(Optimize, WorkGrowsWithTheNodesOnly) {
  InitOps();
  Transformer small(8), large(96);
  ASSERT_TRUE(large.status().ok()) << large.status().ToString();
  const int nodes = large.graph().NodeCount();
  ASSERT_GE(nodes, 5000);
  auto few = Optimize(small.graph()), many = Optimize(large.graph());
  ASSERT_TRUE(few.ok() && many.ok()) << many.status().ToString();
  EXPECT_EQ(many->hits["RecomposeAttention"], 96);
  EXPECT_TRUE(many->warnings.empty());
  std::printf("%d nodes to %d: %d rewrites, %lld attempts, %.0f ms\n", nodes, large.graph().NodeCount(),
              Rewrites(*many), static_cast<long long>(many->attempts), many->milliseconds);
  EXPECT_LE(Rewrites(*many), 13 * Rewrites(*few))
      << "12 times the layers should need about 12 times the rewrites";
  EXPECT_LE(many->attempts, 14 * few->attempts);
  EXPECT_LE(many->attempts, 100 * nodes);
}

TEST(Optimize, NamesAPassThatBreaksTheGraph) {
  OptimizeOptions options;
  // Moves the last node before the producer of its input.
  options.more_passes.push_back({"Shuffle", "", Level::kBasic, [](Graph& graph, PassContext&) -> Result<int> {
                                   Node* last = graph.nodes().back().get();
                                   Node* early = graph.AddNode(*last->op, last->attrs, last->inputs(), 1,
                                                               graph.nodes().front().get());
                                   early->output(0)->type = last->output(0)->type;
                                   graph.ReplaceUses(last->output(0), early->output(0));
                                   return 1;
                                 }});
  auto g = Parse("graph @g(%x: f32[2]) -> (%y) { %a = Tanh(%x) %b = Exp(%a) %y = Sin(%b) }");
  auto report = Optimize(*g, options);
  ASSERT_FALSE(report.ok());
  const std::string error = report.status().ToString();
  EXPECT_NE(error.find("pass 'Shuffle'"), std::string::npos) << error;
  EXPECT_NE(error.find("stage 'clean'"), std::string::npos) << error;
  EXPECT_NE(error.find("broken graph"), std::string::npos) << error;
}

TEST(Optimize, NamesARuleThatBreaksTheGraph) {
  Rule rule{.roots = {"Unary:tanh"}, .apply = [](Rewrite& r) {
              Value* y = r.Op("Unary", {r.root().input(0)}, {{"kind", std::string("sin")}});
              if (!r.Replace(y)) return false;
              y->uses.push_back(y->uses.front());
              return true;
            }};
  rule.name = "Twice";
  auto g = Parse("graph @g(%x: f32[2]) -> (%y) { %a = Tanh(%x) %y = Exp(%a) }");
  ASSERT_TRUE(PrepareRule(rule).ok());
  OptimizeOptions options;
  options.more_rules = {&rule};
  auto report = Optimize(*g, options);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().ToString().find("'Twice'"), std::string::npos) << report.status().ToString();
}

TEST(Optimize, EndsWithAWarningThatNamesRulesInACircle) {
  Rule there{.match = {"%y = Sin(%x)"}, .emit = "%y = Cos(%x)"},
      back{.match = {"%y = Cos(%x)"}, .emit = "%y = Sin(%x)"};
  there.name = "There", back.name = "Back";
  auto g = Parse("graph @g(%x: f32[2]) -> (%y) { %a = Sin(%x) %y = Exp(%a) }");
  ASSERT_TRUE(PrepareRule(there).ok() && PrepareRule(back).ok());
  OptimizeOptions options;
  options.more_rules = {&there, &back};
  auto report = Optimize(*g, options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_NE(report->warnings[0].find("There ("), std::string::npos) << report->warnings[0];
  EXPECT_NE(report->warnings[0].find("Back ("), std::string::npos) << report->warnings[0];
  EXPECT_TRUE(VerifyGraph(*g).ok());
  EXPECT_EQ(g->NodeCount(), 2);
}

}  // namespace
}  // namespace tern
