// Makes Attention append new keys and values to the KV cache (past_key, past_value).
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns the Concat that produces v [batch, heads, length, size] by appending new rows to past rows along
// `length`. If there is none, calls Skip with the reason and returns null. `what` is "keys" or "values", for
// the reason.
const Node* Appended(Rewrite& r, const Value* v, const char* what) {
  const Node* concat = MadeBy(v, "Concat");
  if (!concat || concat->inputs().size() != 2 || v->type.shape.rank() != 4 ||
      AxisOf(concat->attrs.Int("axis"), v) != 2) {
    r.Skip(what, " are not a Concat of past and new ", what);
    return nullptr;
  }
  if (concat->graph != &r.graph() || v->uses.size() != 1) {
    r.Skip("'", v->name, "' is also read by another node");
    return nullptr;
  }
  if (!concat->input(0)->is_input && v->output_uses == 0) {
    r.Skip("'", v->name, "' is neither an output of the graph nor starts with an input of the graph");
    return nullptr;
  }
  return concat;
}

bool Fuse(Rewrite& r) {
  const Node& node = r.root();
  if (node.input(4) || node.input(5)) return r.Skip("the Attention already has a past");
  if (node.outputs().size() != 1) return r.Skip("other outputs are read");
  if (node.attrs.Bool("joint")) return r.Skip("q, k and v are one value");
  // Without a past, the first query of causal attention attends to the first key only. With a past, it would
  // attend to all past keys.
  if (node.attrs.Bool("causal")) return r.Skip("with a past, causal attention would attend to other keys");
  const Node* k = Appended(r, node.input(1), "keys");
  const Node* v = k ? Appended(r, node.input(2), "values") : nullptr;
  if (!v) return false;
  if (k == v) return r.Skip("keys and values are one value");
  const Shape &past_k = k->input(0)->type.shape, &past_v = v->input(0)->type.shape;
  if (past_k.rank() != 4 || past_v.rank() != 4 || past_k[2] != past_v[2])
    return r.Skip("the past of keys and of values may differ in length");
  std::vector<Value*> inputs = node.inputs();
  inputs.resize(std::max<size_t>(inputs.size(), 6), nullptr);
  inputs[1] = k->input(1), inputs[2] = v->input(1);
  inputs[4] = k->input(0), inputs[5] = v->input(0);
  const auto outputs = r.Ops(*node.op, node.attrs, inputs, 3);
  return r.ReplaceValues(
      {{node.output(0), outputs[0]}, {k->output(0), outputs[1]}, {v->output(0), outputs[2]}});
}

}  // namespace

TERN_RULE(FusePastIntoAttention) {
  return Rule{
      .summary = "Attention appends keys and values to the past itself, without a Concat before it",
      .level = Level::kExtended,
      .roots = {"Attention"},
      .apply = Fuse,
      .example =
          R"(graph @g(%q: f32[N,2,L,4], %k: f32[N,2,L,4], %v: f32[N,2,L,4], %a: f32[N,2,P,4], %b: f32[N,2,P,4]) -> (%y, %c, %d) {
  %c = Concat(%a, %k) {axis=2}
  %d = Concat(%b, %v) {axis=2}
  %y = Attention(%q, %c, %d)
})"};
}

}  // namespace tern
