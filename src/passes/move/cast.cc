// Exchanges a Cast and an op that only copies elements, so that the op copies the smaller type.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// True if the op only copies elements of its first input. False for views, because they copy no data.
bool MovesData(const OpDef& op) { return op.movement && op.movement->FirstInputOnly() && !op.Is(kView); }

using Amount = Movement::Amount;

// True if the op has one output, which contains each input element at most once.
bool MovesWithoutRepeating(const OpDef& op) {
  return MovesData(op) && (op.movement->amount == Amount::kSame || op.movement->amount == Amount::kFewer) &&
         op.outputs[0].arity == Port::Arity::kRequired;
}

int Bits(DType t) { return BitWidth(t); }
// True if elements are smaller than a byte. Copies of such elements are not faster, because kernels
// address bytes.
bool Packed(DType t) { return Bits(t) < 8; }

// Rewrites cast(move(x)) as move(cast(x)), for a cast to fewer bits.
bool MoveUp(Rewrite& r) {
  Node& cast = r.root();
  Value* v = cast.input(0);
  if (!v->producer || !MovesData(*v->producer->op) || v->producer->outputs().size() != 1)
    return r.Skip("'", v->name, "' is not made by an op that only moves data");
  if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
  Node& move = *v->producer;
  if (move.graph != &r.graph()) return r.Skip("'", v->name, "' is made outside of this graph");
  if (Bits(cast.output(0)->type.dtype) >= Bits(v->type.dtype))
    return r.Skip("the Cast is not to a smaller type");
  if (Packed(cast.output(0)->type.dtype)) return r.Skip("the elements would be smaller than a byte");
  const Amount amount = move.op->movement->amount;
  if (amount == Amount::kFewer || amount == Amount::kAny)
    return r.Skip("elements that the op drops would be cast too");
  std::vector<Value*> inputs = move.inputs();
  inputs[0] = r.Op(*cast.op, cast.attrs, {move.input(0)});
  return r.Replace(r.Op(*move.op, move.attrs, inputs));
}

// Rewrites move(cast(x)) as cast(move(x)), for a cast to more bits.
bool MoveDown(Rewrite& r) {
  Node& move = r.root();
  Value* v = move.input(0);
  Node* cast = MadeBy(v, "Cast");
  if (!cast) return r.Skip("'", v->name, "' is not made by Cast");
  if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
  if (cast->graph != &r.graph()) return r.Skip("'", v->name, "' is made outside of this graph");
  if (Bits(v->type.dtype) <= Bits(cast->input(0)->type.dtype))
    return r.Skip("the Cast is not to a larger type");
  if (Packed(cast->input(0)->type.dtype)) return r.Skip("the elements are smaller than a byte");
  if (cast->input(0)->type.dtype == DType::kString) return r.Skip("the elements are strings");
  std::vector<Value*> inputs = move.inputs();
  inputs[0] = cast->input(0);
  return r.Replace(r.Op(*cast->op, cast->attrs, {r.Op(*move.op, move.attrs, inputs)}));
}

}  // namespace

TERN_RULE(MoveNarrowingCastBeforeData) {
  return Rule{.summary = "a Cast to a smaller type moves before a Transpose, Expand or Tile",
              .level = Level::kExtended,
              .roots = {"Cast"},
              .apply = MoveUp,
              .example = R"(graph @g(%x: f32[N,M]) -> (%y) { %y = Cast(Transpose(%x)) {to=f16} })"};
}
TERN_RULE(MoveWideningCastBehindData) {
  return Rule{.summary = "a Cast to a larger type moves after a Transpose or Slice",
              .level = Level::kExtended,
              .roots = OpNames(MovesWithoutRepeating),
              .apply = MoveDown,
              .example = R"(graph @g(%x: f16[N,M]) -> (%y) { %y = Transpose(Cast(%x) {to=f32}) })"};
}

}  // namespace tern
