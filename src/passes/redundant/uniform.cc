// Simplifies ops on tensors with all elements equal.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// Returns the value of all elements of v as a scalar. Skips ops that only copy elements. Returns
// nullopt if it cannot prove that the elements are equal.
std::optional<Tensor> Repeated(const Value* v) {
  for (int steps = 0; v && steps < 16; ++steps) {
    if (v->is_constant()) {
      if (!UniformOf(v)) return std::nullopt;
      Tensor element(v->constant.dtype(), {});
      if (IsInt(element.dtype()) || element.dtype() == DType::kBool)
        StoreLong(element, 0, ToLongs(v->constant)[0]);
      else
        StoreDouble(element, 0, *UniformOf(v));
      return element;
    }
    if (!v->producer) return std::nullopt;
    const Node& node = *v->producer;
    if (IsOp(node, "Fill")) return std::get<Tensor>(node.attrs.Get("value")).Clone().Reshaped({});
    if (!node.op->movement || !node.op->movement->FirstInputOnly()) return std::nullopt;
    v = node.input(0);
  }
  return std::nullopt;
}

bool ExpandUniform(Rewrite& r) {
  const Node& node = r.root();
  Value* x = node.input(0);
  if (x->is_constant() && x->constant.size() == 1)
    return r.Skip("the input is already a constant with one element");
  const auto element = Repeated(x);
  if (!element) return r.Skip("the elements of its input are not provably equal");
  const auto target = ContentOf(node.input(1));
  if (!target || !node.output(0)->type.shape.ranked || !(Shape(*target) == node.output(0)->type.shape))
    return r.Skip("the target may differ from the result's shape");
  return r.Replace(r.Op("Expand", {r.Const(*element), node.input(1)}));
}

// If an operand is a Gather whose indices are all equal, replaces the operand by one row.
bool GatherUniform(Rewrite& r) {
  for (size_t i = 0; i < r.root().inputs().size(); ++i) {
    const Node* gather = MadeBy(r.root().inputs()[i], "Gather");
    const Value* indices = gather ? gather->input(1) : nullptr;
    if (!gather || indices->is_constant() || !indices->type.shape.ranked || gather->attrs.Int("axis") != 0)
      continue;
    const auto element = Repeated(indices);
    if (!element) continue;
    const Dims ones(static_cast<size_t>(indices->type.shape.rank()), 1);
    std::vector<Value*> inputs = r.root().inputs();
    inputs[i] = r.Op(*gather->op, gather->attrs, {gather->input(0), r.Const(element->Reshaped(ones))});
    Value* y = r.Op(*r.root().op, r.root().attrs, inputs);
    if (SameShape(y, r.root().output(0))) return r.Replace(y);
  }
  return r.Skip("no operand gathers one row only, or the result would have another shape");
}

// Replaces an operand whose elements are all equal by a scalar, if the shape of the result stays the same.
bool ReadUniform(Rewrite& r) {
  const Node& node = r.root();
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.inputs()[i];
    const bool scalar = v->type.shape.rank() == 0;
    if (scalar || (v->is_constant() && !IsOp(node, "Where"))) continue;
    const auto element = Repeated(v);
    if (!element) continue;
    std::vector<Value*> inputs = node.inputs();
    inputs[i] = r.Const(*element);
    Value* y = r.Op(*node.op, node.attrs, inputs);
    if (SameShape(y, node.output(0))) return r.Replace(y);
  }
  return r.Skip("no operand has equal elements, or the result would have another shape");
}

bool ConcatUniform(Rewrite& r) {
  const Node& node = r.root();
  const auto axis = AxisOf(node.attrs.Int("axis"), node.output(0));
  if (!axis || node.inputs().size() != 2)
    return r.Skip("the node is not a Concat of two inputs of known rank");
  for (size_t i : {size_t{1}, size_t{0}}) {
    const Value *border = node.inputs()[i], *x = node.inputs()[1 - i];
    if (border->is_constant() || !x->type.shape.ranked || !border->type.shape.ranked) continue;
    const auto element = Repeated(border);
    if (!element || !border->type.shape[*axis].known()) continue;
    const auto rank = static_cast<size_t>(x->type.shape.rank());
    std::vector<int64_t> pads(2 * rank, 0);
    pads[static_cast<size_t>(*axis) + (i == 1 ? rank : 0)] = border->type.shape[*axis].value();
    return r.Replace(r.Op("Pad", {node.inputs()[1 - i], r.Ints(pads), r.Const(*element)}));
  }
  return r.Skip("no computed input has all elements equal");
}

}  // namespace

TERN_RULE(ExpandUniform) {
  return Rule{.summary = "an Expand of a tensor with all elements equal expands a scalar",
              .roots = {"Expand"},
              .apply = ExpandUniform,
              .example = R"(graph @g(%x: i64[N,S]) -> (%y) {
  #zeros: i64[1,4] = (0, 0, 0, 0)  #zero: i64[1] = (0)  #one: i64[1] = (1)
  %y = Expand(Slice(#zeros, #zero, Shape(%x) {start=1, end=2}, #one), Shape(%x))
})"};
}

TERN_RULE(ReadGatheredRow) {
  return Rule{
      .summary = "a Gather with all indices equal is replaced by one row of the table, which is broadcast",
      .roots = {"Binary", "Where"},
      .apply = GatherUniform,
      .example = R"(graph @g(%ids: i64[N,S], %x: f32[N,S,2]) -> (%y) {
  #table: f32[2,2] = (1, 2, 3, 4)  #one: i64[] = (1)
  %y = %x + Gather(#table, Expand(#one, Shape(%ids)))
})"};
}

TERN_RULE(ReadUniformOperand) {
  return Rule{
      .summary = "an operand whose elements are all equal is replaced by a scalar, which is broadcast",
      .roots = {"Binary", "Where"},
      .apply = ReadUniform,
      .example = R"(graph @g(%c: bool[N,1], %x: f32[N,4]) -> (%y) {
  %y = Where(%c, %x, Fill(Shape(%x)))
})"};
}

TERN_RULE(ReplaceConcatByPad) {
  return Rule{.summary = "a Concat of a tensor and a computed tensor whose elements are all equal is a Pad",
              .roots = {"Concat"},
              .apply = ConcatUniform,
              .example = R"(graph @g(%x: f32[N,S,1]) -> (%y) {
  #zero: f32[] = (0)
  %y = Concat(%x, Expand(#zero, Shape(%x))) {axis=2}
})"};
}

}  // namespace tern
