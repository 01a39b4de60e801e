// Removes If nodes with a constant condition or equal branches.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool InlineIf(Rewrite& r) {
  const Node& node = r.root();
  const auto condition = ScalarOf(node.input(0));
  if (!condition) return r.Skip("the condition is not constant");
  std::vector<Value*> outputs = r.Inline(*node.subgraphs()[*condition != 0 ? 0 : 1], {});
  outputs.resize(node.outputs().size());
  return r.Replace(outputs);
}

// Compares two nested graphs. Equal graphs have the same ops, attributes, edges and captured values.
class GraphEquality {
 public:
  bool Same(const Graph& a, const Graph& b) {
    if (a.nodes().size() != b.nodes().size() || a.outputs().size() != b.outputs().size()) return false;
    if (a.inputs().size() != b.inputs().size()) return false;
    for (size_t i = 0; i < a.inputs().size(); ++i) pairs_.emplace_back(a.inputs()[i], b.inputs()[i]);
    auto other = b.nodes().begin();
    for (const auto& node : a.nodes())
      if (!SameNode(*node, **other++)) return false;
    return SameValues(a.outputs(), b.outputs());
  }

 private:
  bool SameNode(const Node& a, const Node& b) {
    if (a.op != b.op || !(a.attrs == b.attrs) || !SameValues(a.inputs(), b.inputs())) return false;
    if (a.outputs().size() != b.outputs().size() || a.op->Is(kRandom)) return false;
    for (size_t i = 0; i < a.subgraphs().size(); ++i)
      if (!Same(*a.subgraphs()[i], *b.subgraphs()[i])) return false;
    for (size_t i = 0; i < a.outputs().size(); ++i) pairs_.emplace_back(a.outputs()[i], b.outputs()[i]);
    return true;
  }

  bool SameValues(const std::vector<Value*>& a, const std::vector<Value*>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Value* x, const Value* y) { return SameValue(x, y); });
  }

  bool SameValue(const Value* a, const Value* b) {
    if (a == b) return true;
    if (!a || !b) return false;
    if (a->is_constant() && b->is_constant()) return SameTensor(a->constant, b->constant);
    return std::find(pairs_.begin(), pairs_.end(), std::pair(a, b)) != pairs_.end();
  }

  std::vector<std::pair<const Value*, const Value*>> pairs_;
};

bool InlineEqualBranches(Rewrite& r) {
  const Node& node = r.root();
  if (!GraphEquality().Same(*node.subgraphs()[0], *node.subgraphs()[1])) return r.Skip("the branches differ");
  std::vector<Value*> outputs = r.Inline(*node.subgraphs()[0], {});
  outputs.resize(node.outputs().size());
  return r.Replace(outputs);
}

}  // namespace

TERN_RULE(InlineIf) {
  return Rule{.summary = "an If with a constant condition is replaced by the branch taken",
              .roots = {"If"},
              .apply = InlineIf,
              .example = R"(graph @g(%x: f32[N]) -> (%y) {
  #yes: bool[] = (1)
  %y = If(#yes) [then @t() -> (%a) { %a = Relu(%x) } else @e() -> (%b) { %b = Tanh(%x) }]
})"};
}

TERN_RULE(InlineEqualBranches) {
  return Rule{.summary = "an If with equal branches is replaced by one of the branches",
              .roots = {"If"},
              .apply = InlineEqualBranches,
              .example = R"(graph @g(%c: bool[], %x: f32[N]) -> (%y) {
  %y = If(%c) [then @t() -> (%a) { %a = Relu(%x) } else @e() -> (%b) { %b = Relu(%x) }]
})"};
}

}  // namespace tern
