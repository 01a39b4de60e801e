// Moves a scalar factor or shift after a reduction, where the factor or shift applies to fewer elements.
#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Describes the first input of the root. `node` computes this input from x and the scalar constant
// `number`.
struct Before {
  Node* node = nullptr;
  Value *x = nullptr, *number = nullptr;
};

std::optional<Before> NumberBefore(Rewrite& r, std::initializer_list<const char*> kinds) {
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  Value* v = r.root().input(0);
  Before b;
  for (const char* kind : kinds)
    if (Node* node = MadeBy(v, "Binary", kind)) b.node = node;
  if (!b.node) return no("'", v->name, "' is not a product or shift");
  if (!OnlyUse(v)) return no("'", v->name, "' is also read by another node");
  if (b.node->graph != &r.graph()) return no("'", v->name, "' is made outside of this graph");
  const bool swapped = ScalarOf(b.node->input(0)).has_value();
  if (swapped && !IsOp(*b.node, "Binary", "mul")) return no("the number is the first operand");
  b.number = b.node->input(swapped ? 0 : 1);
  b.x = b.node->input(swapped ? 1 : 0);
  if (!ScalarOf(b.number)) return no("no operand is a number");
  if (b.number->constant.rank() > 0 && b.number->constant.rank() > r.root().output(0)->type.shape.rank())
    return no("the number may have more axes than the result");
  if (!SameShape(b.x, v)) return no("'", v->name, "' has a larger shape than '", b.x->name, "'");
  return b;
}

bool Finish(Rewrite& r, const Before& b) {
  Node& reduce = r.root();
  std::vector<Value*> inputs = reduce.inputs();
  inputs[0] = b.x;
  return r.Replace(r.Op(*b.node->op, b.node->attrs, {r.Op(*reduce.op, reduce.attrs, inputs), b.number}));
}

// Left shifts and integer sums both wrap modulo 2^bits, so a shift can move after the sum.
bool MoveShift(Rewrite& r) {
  const auto b = NumberBefore(r, {"shift_left"});
  return b && Finish(r, *b);
}

bool MoveFactorOfReduce(Rewrite& r) {
  const auto b = NumberBefore(r, {"mul", "div"});
  if (!b) return false;
  const double number = *ScalarOf(b->number);
  const bool extreme = IsOp(r.root(), "Reduce", "max") || IsOp(r.root(), "Reduce", "min");
  if (IsFloatValue(b->x)) {
    if (!std::isnormal(static_cast<float>(number))) return r.Skip("the factor is zero or not finite");
    const bool shrinks =
        std::abs(number) < 1 ? IsOp(*b->node, "Binary", "mul") : IsOp(*b->node, "Binary", "div");
    if (b->x->type.dtype == DType::kF16 && shrinks && IsOp(r.root(), "Reduce", "sum"))
      return r.Skip("the sum may be too large for f16 without the factor");
    if (extreme && number < 0) return r.Skip("a negative factor exchanges maximum and minimum");
  } else if (extreme || !IsOp(r.root(), "Reduce", "sum") || !IsOp(*b->node, "Binary", "mul")) {
    return r.Skip("integers wrap, and their division truncates");
  }
  return Finish(r, *b);
}

}  // namespace

TERN_RULE(MoveShiftBehindReduceSum) {
  return Rule{.summary = "integers are summed before they are shifted left",
              .level = Level::kExtended,
              .roots = {"Reduce:sum"},
              .apply = MoveShift,
              .example = R"(graph @g(%x: u32[N,4]) -> (%y) {
  #two: u32[] = (2)  #axes: i64[1] = (1)
  %y = ReduceSum(ShiftLeft(%x, #two), #axes)
})"};
}
TERN_RULE(MoveScalarMulBehindReduce) {
  return Rule{.summary = "elements are reduced before they are multiplied by a number",
              .level = Level::kExtended,
              .roots = {"Reduce:sum", "Reduce:mean", "Reduce:max", "Reduce:min"},
              .apply = MoveFactorOfReduce,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) {
  #c: f32[] = (3)  #axes: i64[1] = (1)
  %y = ReduceSum(%x * #c, #axes)
})"};
}

}  // namespace tern
