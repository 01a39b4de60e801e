// After WidenHalf, no rule may emit a node that computes in half precision. Otherwise the rule and WidenHalf
// would undo each other. These tests check this for every op.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/builder.h"
#include "ir/infer_context.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "passes/pipeline.h"
#include "passes/widen/half_node.h"

namespace tern {
namespace {

// How the operands of a node are made.
struct Form {
  DType half = DType::kF16;
  Shape shape;            // the shape of every operand in half precision
  bool optional = false;  // optional inputs are present
  bool casts = false;     // the node works in f32, between Casts from and to half precision
};

std::vector<Form> AllForms() {
  std::vector<Form> forms;
  const std::vector<Shape> shapes = {Shape(), Shape({4}), Shape({4, 4}), Shape({2, 4, 4}),
                                     Shape({1, 4, 4, 4})};
  for (bool optional : {false, true})
    for (bool casts : {false, true}) {
      for (const Shape& shape : shapes) forms.push_back({DType::kF16, shape, optional, casts});
      forms.push_back({DType::kBF16, Shape(), optional, casts});
    }
  return forms;
}

Value* CastTo(Graph& graph, DType to, Value* v) { return Builder(graph).Op("Cast", {v}, {{"to", to}}); }

// Returns `half` if the port accepts it. Otherwise returns an integer type or bool that the port accepts, or
// kInvalid.
DType TypeFor(const Port& port, DType half) {
  for (DType t : {half, DType::kI64, DType::kI32, DType::kBool, DType::kI8, DType::kU8})
    if (port.types & SetOf(t)) return t;
  return DType::kInvalid;
}

int OutputCount(const OpDef& op) {
  const auto required = [](const Port& port) { return port.arity != Port::Arity::kOptional; };
  return static_cast<int>(std::count_if(op.outputs.begin(), op.outputs.end(), required));
}

// True for ops whose attributes contain a trained model, which GraphOf cannot make.
bool IsTrained(const OpDef& op) {
  static const std::set<std::string> kTrained = {"LabelEncoder", "LinearClassifier", "SVMClassifier",
                                                 "SVMRegressor", "TreeEnsembleClassifier"};
  return kTrained.count(op.name) != 0;
}

// The op's default attributes, with windows of one element.
Attrs AttrsOf(const OpDef& op) {
  Attrs attrs = op.defaults;
  const std::vector<int64_t> one = {1, 1};
  const bool windows =
      attrs.Has("kernel") && std::holds_alternative<std::vector<int64_t>>(attrs.Get("kernel"));
  EXPECT_TRUE(!windows || attrs.Set("kernel", one).ok());
  return attrs;
}

// Returns a graph of one node. If form.casts is true, Casts surround the node. Returns null if the op does
// not accept such operands.
std::unique_ptr<Graph> GraphOf(const OpDef& op, const Form& form) {
  auto graph = std::make_unique<Graph>();
  std::vector<Value*> inputs;
  bool half = false;
  for (const Port& port : op.inputs) {
    if (port.arity == Port::Arity::kOptional && !form.optional) break;
    const DType type = TypeFor(port, form.half);
    if (type == DType::kInvalid) return nullptr;
    half |= type == form.half;
    Value* v = graph->AddInput(StrCat("x", inputs.size()),
                               Type::TensorOf(type, type == form.half ? form.shape : Shape()));
    inputs.push_back(form.casts && type == form.half ? CastTo(*graph, DType::kF32, v) : v);
  }
  if (!half || !op.subgraphs.empty()) return nullptr;
  Node* node = graph->AddNode(op, AttrsOf(op), inputs, OutputCount(op));
  if (!InferNode(*node).ok()) return nullptr;
  std::vector<Value*> outputs;
  for (Value* v : node->outputs()) {
    const bool narrow = form.casts && v->type.tensor() && v->type.dtype == DType::kF32;
    outputs.push_back(narrow ? CastTo(*graph, form.half, v) : v);
    outputs.back()->name = StrCat("y", outputs.size());
  }
  graph->SetOutputs(outputs);
  return graph;
}

// Calls `check` for every op that WidenHalf widens or that moves f16 data, once for each form that the op
// accepts.
template <class F> void ForEachGraph(F check) {
  for (const OpDef* op : AllOps()) {
    int graphs = 0;
    const bool takes_half = std::any_of(op->inputs.begin(), op->inputs.end(), [](const Port& port) {
      return (port.types & SetOf(DType::kF16)) != 0;
    });
    const bool changes = *op->half == HalfRule::kWiden || *op->half == HalfRule::kMove;
    for (const Form& form : AllForms())
      if (auto graph = changes ? GraphOf(*op, form) : nullptr) {
        SCOPED_TRACE(PrintGraph(*graph));
        check(*graph);
        ++graphs;
      }
    EXPECT_EQ(graphs > 0, takes_half && changes && !IsTrained(*op))
        << "op " << op->name << ": add a shape or an attribute that it takes, or drop it from IsTrained";
  }
}

int HalfNodes(const Graph& graph) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                        [](const auto& node) { return ComputesInHalf(*node); }));
}

OptimizeReport Optimized(Graph& graph, Level level, const std::vector<const Rule*>& more = {}) {
  OptimizeOptions options;
  options.level = level;
  options.eager = true;
  options.more_rules = more;
  auto report = Optimize(graph, options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  return report.ok() ? *report : OptimizeReport();
}

// Expects that the rules terminate, that no node computes in half precision, and that a second run changes
// nothing.
void ExpectWide(const Graph& graph, const std::vector<const Rule*>& more) {
  auto after = graph.Clone();
  const auto report = Optimized(*after, Level::kLayout, more);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  EXPECT_EQ(HalfNodes(*after), 0) << PrintGraph(*after);
  const std::string text = PrintGraphExactly(*after);
  Optimized(*after, Level::kLayout, more);
  EXPECT_EQ(PrintGraphExactly(*after), text);
}

bool AcceptsInputs(const Node& node, const std::vector<Value*>& inputs, DType half) {
  std::vector<InferInput> types;
  for (const Value* v : inputs) types.push_back(v ? InferInput{true, v->type, {}, {}} : InferInput());
  InferContext context(*node.op, std::move(types), 1);
  return RunInfer(*node.op, node.attrs, context).ok() && context.outputs()[0].type.dtype == half;
}

// Does the opposite of WidenHalf. It removes the Casts around a node.
bool Narrow(Rewrite& r) {
  const DType half = r.root().output(0)->type.dtype;
  Value* wide = r.root().input(0);
  const Node* node = wide->producer;
  if (!IsHalf(r.root().output(0)->type) || !node || !OnlyUse(wide) || node->outputs().size() != 1)
    return r.Skip("no node between Casts");
  std::vector<Value*> inputs = node->inputs();
  bool changed = false;
  for (Value*& v : inputs)
    if (const Node* cast = MadeBy(v, "Cast"); cast && cast->input(0)->type.dtype == half)
      v = cast->input(0), changed = true;
  if (!changed || !AcceptsInputs(*node, inputs, half))
    return r.Skip("the op does not work in half precision");
  return r.Replace(r.Op(*node->op, node->attrs, inputs));
}

TEST(WidenHalf, NoRuleUndoesItForAnyOp) {
  InitOps();
  ForEachGraph([](const Graph& graph) { ExpectWide(graph, {}); });
}

TEST(WidenHalf, NotEvenARuleThatNarrowsAnyOp) {
  InitOps();
  Rule rule{.summary = "the opposite of WidenHalf", .roots = {"Cast"}, .apply = Narrow};
  rule.name = "Narrow";
  ASSERT_TRUE(PrepareRule(rule).ok());
  int fired = 0;
  ForEachGraph([&](const Graph& graph) {
    ExpectWide(graph, {&rule});
    auto extended = graph.Clone();
    fired += Optimized(*extended, Level::kExtended, {&rule}).hits.count("Narrow") != 0;
  });
  EXPECT_GT(fired, 300) << "the rule must fire where WidenHalf does not run";
}

TEST(WidenHalf, ARuleThatComputesInHalfSaysWhyNot) {
  InitOps();
  auto graph = ParseGraph(R"(graph @g(%x: f16[N,8]) -> (%y) {
    %y = Cast(LayerNorm(Cast(%x) {to=f32})) {to=f16}
  })");
  ASSERT_TRUE(graph.ok());
  auto extended = (*graph)->Clone();
  EXPECT_EQ(Optimized(*extended, Level::kExtended).hits.count("RemoveCastsAroundLayerNorm"), 1u);
  OptimizeOptions options;
  options.level = Level::kLayout;
  options.why_not = "RemoveCastsAroundLayerNorm";
  auto report = Optimize(**graph, options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->hits.count("RemoveCastsAroundLayerNorm"), 0u);
  ASSERT_FALSE(report->why_not.empty());
  EXPECT_EQ(report->why_not[0].reason,
            "the new LayerNorm would compute in f16 or bf16, and WidenHalf computes in f32");
}

}  // namespace
}  // namespace tern
