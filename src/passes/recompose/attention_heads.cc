// Removes the nodes around Attention that split, merge or repeat heads. Attention itself can read and write
// [batch, length, heads*size], and several query heads can share a key/value head.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

const std::vector<int64_t> kSwapped = {0, 2, 1, 3};

bool IsSwap(const Node* n) { return n && n->attrs.Ints("perm") == kSwapped; }

// Emits the Attention `node` with other inputs and attributes, and with one output.
Value* Rebuild(Rewrite& r, const Node& node, std::vector<Value*> inputs, const AttrList& changes) {
  return r.Op(*node.op, WithAttrs(node.attrs, changes), inputs);
}
// Like Rebuild, with all outputs.
std::vector<Value*> RebuildAllOutputs(Rewrite& r, const Node& node, const std::vector<Value*>& inputs,
                                      const AttrList& changes) {
  return r.Ops(*node.op, WithAttrs(node.attrs, changes), inputs, static_cast<int>(node.outputs().size()));
}

bool OnlyFirstOutput(const Node& node) {
  return std::all_of(node.outputs().begin() + 1, node.outputs().end(),
                     [](const Value* v) { return v->unused(); });
}

// True if no node reads an output other than the first. The outputs may be outputs of the graph.
bool OthersHaveNoReaders(const Node& node) {
  return std::all_of(node.outputs().begin() + 1, node.outputs().end(),
                     [](const Value* v) { return v->uses.empty(); });
}

// Describes v = Transpose(split), where split is x [batch, length, heads*size] reshaped to [batch, length,
// heads, size]. x is null if v is not of this form.
struct Packed {
  Value* x = nullptr;
  int64_t heads = 0;
};

Packed PackedOf(Rewrite& r, Value* v) {
  const Node* transpose = MadeBy(v, "Transpose");
  if (!IsSwap(transpose)) return {};
  Value* split = transpose->input(0);
  const Shape& s = split->type.shape;
  if (!s.ranked || !s[2].known() || !s[3].known() || s[2].value() < 1) return {};
  const Dim width(s[2].value() * s[3].value());
  const Node* reshape = MadeBy(split, "Reshape");
  if (reshape) {
    const Shape& x = reshape->input(0)->type.shape;
    if (x.rank() == 3 && x[0] == s[0] && x[1] == s[1] && x[2] == width)
      return {reshape->input(0), s[2].value()};
  }
  return {r.Op("Reshape", {split, r.Ints({0, 0, width.value()})}), s[2].value()};
}

bool FuseSplitHeadsAt(Rewrite& r) {
  const Node& node = r.root();
  std::vector<Value*> inputs = node.inputs();
  AttrList changes;
  for (size_t i = 0; i < 3; ++i) {
    if (inputs[i]->type.shape.rank() != 4) continue;
    const Packed packed = PackedOf(r, inputs[i]);
    if (!packed.x) continue;
    inputs[i] = packed.x;
    changes.emplace_back(i == 0 ? "q_heads" : "kv_heads", packed.heads);
  }
  if (changes.empty()) return r.Skip("no input is made by a Reshape into heads and a Transpose");
  return r.Replace(RebuildAllOutputs(r, node, inputs, changes));
}

// Rewrites Reshape(Transpose(Attention)) as a Reshape of the packed result.
bool FuseMergedHeadsAt(Rewrite& r) {
  const Node& root = r.root();
  Node* transpose = MadeBy(root.input(0), "Transpose");
  if (!IsSwap(transpose) || !OnlyUse(root.input(0)))
    return r.Skip("the input is not made by a Transpose with perm=[0,2,1,3]");
  Node* attention = MadeBy(transpose->input(0), "Attention");
  if (!attention || transpose->input(0)->output != 0 || !OnlyUse(transpose->input(0)))
    return r.Skip("the value is not the result of an Attention that is read nowhere else");
  if (attention->attrs.Bool("merged") || !OthersHaveNoReaders(*attention))
    return r.Skip("the heads are merged already, or other outputs are read");
  const std::vector<Value*> new_outputs =
      RebuildAllOutputs(r, *attention, attention->inputs(), {{"merged", true}});
  std::vector<std::pair<Value*, Value*>> pairs;
  for (size_t i = 1; i < new_outputs.size(); ++i) pairs.emplace_back(attention->outputs()[i], new_outputs[i]);
  const auto replace = [&](Value* y) {
    pairs.emplace_back(root.output(0), y);
    return r.ReplaceValues(pairs);
  };
  Value* merged = new_outputs[0];
  if (SameShape(merged, root.output(0))) return replace(merged);
  // Only dims 0 and 1 are the same in the inputs of the old and the new Reshape. A 0 at a later position of
  // the target shape would copy a different dim.
  const auto target = IntsOf(root.input(1));
  if (target && !root.attrs.Bool("allow_zero") && target->size() > 2 &&
      std::find(target->begin() + 2, target->end(), 0) != target->end())
    return r.Skip("the target shape copies a dim after dim 1");
  return replace(r.Op(*root.op, root.attrs, {merged, root.input(1)}));
}

// Describes v = Reshape(Expand(Unsqueeze(x, 2))), in which each head of x is repeated `times` times in a row.
// x is null if v is not of this form.
struct Repeated {
  Value* x = nullptr;
  int64_t times = 1;
};

Repeated RepeatedOf(Value* v) {
  const Node* merge = MadeBy(v, "Reshape");
  const Node* expand = merge ? MadeBy(merge->input(0), "Expand") : nullptr;
  if (!expand) return {};
  const Node* insert = MadeBy(expand->input(0), "Unsqueeze");
  if (!insert) insert = MadeBy(expand->input(0), "Reshape");
  if (!insert) return {};
  Value* x = insert->input(0);
  const Shape &s = x->type.shape, &one = insert->output(0)->type.shape, &wide = expand->output(0)->type.shape,
              &y = v->type.shape;
  if (s.rank() != 4 || one.rank() != 5 || wide.rank() != 5 || y.rank() != 4 || !wide[2].known()) return {};
  const Dim times = wide[2];
  const bool inserted = one[0] == s[0] && one[1] == s[1] && one[2].Is(1) && one[3] == s[2] && one[4] == s[3];
  const bool expanded = wide[0] == s[0] && wide[1] == s[1] && wide[3] == s[2] && wide[4] == s[3];
  const bool merged = y[0] == s[0] && y[1] == s[1] * times && y[2] == s[2] && y[3] == s[3];
  return inserted && expanded && merged && times.value() > 0 ? Repeated{x, times.value()} : Repeated{};
}

bool FuseRepeatedHeadsAt(Rewrite& r) {
  const Node& node = r.root();
  if (!OnlyFirstOutput(node) || node.input(4) || node.input(5))
    return r.Skip("there is a KV cache, or other outputs are read");
  const Repeated k = RepeatedOf(node.input(1)), v = RepeatedOf(node.input(2));
  if (!k.x || !v.x || k.times != v.times)
    return r.Skip("keys and values are not repeated by the same number");
  std::vector<Value*> inputs = node.inputs();
  inputs[1] = k.x, inputs[2] = v.x;
  return r.Replace(Rebuild(r, node, inputs, {{"kv_heads", int64_t{0}}}));
}

// If v [batch*heads, length, size] is a Reshape of x [batch, heads, length, size], returns x. Otherwise
// returns null.
Value* Unflattened(Value* v) {
  const Node* reshape = MadeBy(v, "Reshape");
  if (!reshape) return nullptr;
  Value* x = reshape->input(0);
  const Shape &s = x->type.shape, &y = v->type.shape;
  if (s.rank() != 4 || y.rank() != 3) return nullptr;
  return y[0] == s[0] * s[1] && y[1] == s[2] && y[2] == s[3] ? x : nullptr;
}

bool FuseFlattenedHeadsAt(Rewrite& r) {
  const Node& node = r.root();
  const bool single =
      node.attrs.Int("q_heads") == 1 && node.attrs.Int("kv_heads") == 1 && node.attrs.Bool("merged");
  if (!single || node.attrs.Bool("joint") || !OnlyFirstOutput(node) || node.input(4) || node.input(6))
    return r.Skip("the Attention does not have exactly one head, or it has a KV cache");
  std::vector<Value*> inputs = node.inputs();
  for (size_t i = 0; i < 3; ++i) {
    inputs[i] = Unflattened(inputs[i]);
    if (!inputs[i]) return r.Skip("input ", i, " is not a flattened batch of heads");
    const Shape &s = inputs[i]->type.shape, &first = inputs[0]->type.shape;
    if (s[0] != first[0] || s[1] != first[1])
      return r.Skip("batch size or number of heads differ between q, k and v");
  }
  if (inputs.size() > 3 && inputs[3]) {
    const Shape& mask = inputs[3]->type.shape;
    const bool shared = mask.rank() >= 0 && (mask.rank() < 4 ? mask.rank() < 3 : mask[0].Is(1));
    const Node* insert = MadeBy(inputs[3], "Unsqueeze");
    Value* unflattened = insert ? Unflattened(insert->input(0)) : nullptr;
    if (!shared && !unflattened) return r.Skip("the mask is not a flattened batch of heads");
    if (!shared) {
      const Shape &m = unflattened->type.shape, &q = inputs[0]->type.shape;
      if (m[0] != q[0] || m[1] != q[1]) return r.Skip("the mask has another batch size or number of heads");
      inputs[3] = unflattened;
    }
  }
  Value* y = Rebuild(r, node, inputs, {{"q_heads", int64_t{0}}, {"kv_heads", int64_t{0}}, {"merged", false}});
  const Shape& s = y->type.shape;
  if (!s.ranked || !s[3].known()) return r.Skip("the size of a head is not known");
  // If all other dims are known, the target shape can have -1 for batch*heads.
  const auto target = ReshapeTarget(node.output(0)->type.shape);
  if (target) return r.Replace(r.Op("Reshape", {y, r.Ints(*target)}));
  Value* shape = MadeBy(node.input(0), "Reshape")->input(1);
  if (inputs[0]->type.shape[3] != s[3]) return r.Skip("values have another size than keys");
  return r.Replace(r.Op("Reshape", {y, shape}));
}

}  // namespace

TERN_RULE(FuseSplitHeadsIntoAttention) {
  return Rule{
      .summary =
          "Attention reads [batch, length, heads*size] itself, without a Reshape and a Transpose before it",
      .level = Level::kExtended,
      .roots = {"Attention"},
      .apply = FuseSplitHeadsAt,
      .example = R"(graph @split(%q: f32[2,5,32], %k: f32[2,4,5,8], %v: f32[2,4,5,8]) -> (%y) {
  #shape: i64[4] = (2, 5, 4, 8)
  %h = Transpose(Reshape(%q, #shape)) {perm=[0,2,1,3]}
  %y = Attention(%h, %k, %v)
})"};
}

TERN_RULE(FuseMergedHeadsIntoAttention) {
  return Rule{.summary = "Attention writes [batch, length, heads*size] itself, without a Transpose after it",
              .level = Level::kExtended,
              .roots = {"Reshape"},
              .apply = FuseMergedHeadsAt,
              .example = R"(graph @merge(%q: f32[2,4,5,8], %k: f32[2,4,5,8], %v: f32[2,4,5,8]) -> (%y) {
  #shape: i64[3] = (2, 5, 32)
  %t = Transpose(Attention(%q, %k, %v)) {perm=[0,2,1,3]}
  %y = Reshape(%t, #shape)
})"};
}

TERN_RULE(FuseRepeatedHeadsIntoAttention) {
  return Rule{
      .summary =
          "Attention shares one key/value head between several query heads, without copies of the head",
      .level = Level::kExtended,
      .roots = {"Attention"},
      .apply = FuseRepeatedHeadsAt,
      .example = R"(graph @repeat(%q: f32[2,4,5,8], %k: f32[2,2,5,8], %v: f32[2,2,5,8]) -> (%y) {
  #axes: i64[1] = (2)  #wide: i64[5] = (2, 2, 2, 5, 8)  #shape: i64[4] = (2, 4, 5, 8)
  %kr = Reshape(Expand(Unsqueeze(%k, #axes), #wide), #shape)
  %vr = Reshape(Expand(Unsqueeze(%v, #axes), #wide), #shape)
  %y = Attention(%q, %kr, %vr)
})"};
}

TERN_RULE(FuseFlattenedHeadsIntoAttention) {
  return Rule{.summary = "Attention over batch*heads becomes Attention over batch and heads",
              .level = Level::kExtended,
              .roots = {"Attention"},
              .apply = FuseFlattenedHeadsAt,
              .example = R"(graph @flat(%q: f32[2,4,5,8], %k: f32[2,4,5,8], %v: f32[2,4,5,8]) -> (%y) {
  #shape: i64[3] = (8, 5, 8)
  %y = Attention(Reshape(%q, #shape), Reshape(%k, #shape), Reshape(%v, #shape)) {q_heads=1, kv_heads=1, merged=true}
})"};
}

}  // namespace tern
