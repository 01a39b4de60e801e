// Data is moved in the narrower of two types.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Moves elements of its first input and nothing else; how many come out is told by Movement::amount. A view
// moves nothing.
bool MovesData(const OpDef& op) { return op.movement && op.movement->FirstInputOnly() && !op.Is(kView); }

using Amount = Movement::Amount;

// No element of the result comes from several places.
bool MovesWithoutRepeating(const OpDef& op) {
  return MovesData(op) && (op.movement->amount == Amount::kSame || op.movement->amount == Amount::kFewer) &&
         op.outputs[0].arity == Port::Arity::kRequired;
}

int Bits(DType t) { return BitWidth(t); }

// narrow(move(x)) to move(narrow(x)).
bool MoveUp(Rewrite& r) {
  Node& cast = r.root();
  Value* v = cast.input(0);
  if (!v->producer || !MovesData(*v->producer->op) || v->producer->outputs().size() != 1)
    return r.Skip("'", v->name, "' is not moved data");
  if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
  Node& move = *v->producer;
  if (move.graph != &r.graph()) return r.Skip("'", v->name, "' is made outside of this graph");
  if (Bits(cast.output(0)->type.dtype) >= Bits(v->type.dtype)) return r.Skip("the Cast does not narrow");
  const Amount amount = move.op->movement->amount;
  if (amount == Amount::kFewer || amount == Amount::kAny) return r.Skip("what is cut off would be cast too");
  std::vector<Value*> inputs = move.inputs();
  inputs[0] = r.Op(*cast.op, cast.attrs, {move.input(0)});
  return r.Replace(r.Op(*move.op, move.attrs, inputs));
}

// move(widen(x)) to widen(move(x)).
bool MoveDown(Rewrite& r) {
  Node& move = r.root();
  Value* v = move.input(0);
  Node* cast = MadeBy(v, "Cast");
  if (!cast) return r.Skip("'", v->name, "' is not made by Cast");
  if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
  if (cast->graph != &r.graph()) return r.Skip("'", v->name, "' is made outside of this graph");
  if (Bits(v->type.dtype) <= Bits(cast->input(0)->type.dtype)) return r.Skip("the Cast does not widen");
  if (cast->input(0)->type.dtype == DType::kString) return r.Skip("texts");
  std::vector<Value*> inputs = move.inputs();
  inputs[0] = cast->input(0);
  return r.Replace(r.Op(*cast->op, cast->attrs, {r.Op(*move.op, move.attrs, inputs)}));
}

}  // namespace

TERN_RULE(MoveNarrowingCastBeforeData) {
  return Rule{.summary = "a Cast to a narrower type comes before a Transpose, Expand or Tile",
              .level = Level::kExtended,
              .roots = {"Cast"},
              .apply = MoveUp,
              .example = R"(graph @g(%x: f32[N,M]) -> (%y) { %y = Cast(Transpose(%x)) {to=f16} })"};
}
TERN_RULE(MoveWideningCastBehindData) {
  return Rule{.summary = "a Cast to a wider type comes after a Transpose or Slice",
              .level = Level::kExtended,
              .roots = OpNames(MovesWithoutRepeating),
              .apply = MoveDown,
              .example = R"(graph @g(%x: f16[N,M]) -> (%y) { %y = Transpose(Cast(%x) {to=f32}) })"};
}

}  // namespace tern
