// Conditions, and functions applied twice.
#include <algorithm>
#include <string_view>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool RemoveDecidedWhere(Rewrite& r) {
  const Node& node = r.root();
  const auto condition = UniformOf(node.input(0));
  Value *a = node.input(1), *b = node.input(2);
  if (!condition && a != b) return r.Skip("the condition is not one constant");
  Value* taken = condition && *condition == 0 ? b : a;
  if (!SameShape(taken, node.output(0)))
    return r.Skip("what is taken may have another shape than the result");
  return r.Replace(taken);
}

bool IsOneOf(std::string_view kind, std::initializer_list<const char*> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Never below zero; NaN stays NaN.
bool NotNegative(const Node& node) {
  if (IsOp(node, "Unary")) return IsOneOf(KindName(node), {"abs", "relu", "sigmoid", "exp", "softplus"});
  if (IsOp(node, "Reduce")) return IsOneOf(KindName(node), {"l1", "l2", "sum_square"});
  return IsOp(node, "Softmax", "softmax");
}

// kind(v) is v.
bool Idle(const std::string& kind, const Value* v) {
  if (!v->producer) return false;
  const Node& inner = *v->producer;
  if (kind == "abs" || kind == "relu") return IsFloatValue(v) && NotNegative(inner);
  if (!IsOp(inner, "Unary")) return false;
  if (kind == "sign") return KindName(inner) == "sign";
  return IsOneOf(kind, {"ceil", "floor", "round"}) && IsOneOf(KindName(inner), {"ceil", "floor", "round"});
}

bool RemoveIdempotent(Rewrite& r) {
  Value* v = r.root().input(0);
  if (!Idle(KindName(r.root()), v)) return r.Skip("its input is not of the kind that it leaves as it is");
  return r.Replace(v);
}

}  // namespace

TERN_RULE(RemoveDecidedWhere) {
  return Rule{.summary = "a Where whose condition is constant, or whose two values are the same",
              .roots = {"Where"},
              .apply = RemoveDecidedWhere,
              .example = R"(graph @g(%a: f32[N,4], %b: f32[N,4]) -> (%y) {
  #c: bool[1] = (1)
  %y = Relu(Where(#c, %a, %b))
})"};
}

TERN_RULE(SwapWhere) {
  return Rule{.summary = "a Where by a negated condition takes its values the other way round",
              .match = {"%n = Not(%c) shared  %y = Where(%n, %a, %b)"},
              .emit = "%y = Where(%c, %b, %a)"};
}

TERN_RULE(RemoveDoubleNegation) {
  return Rule{.summary = "Not, Neg or BitwiseNot applied twice",
              .match = {"%n = Not(%x) shared  %y = Not(%n)", "%n = Neg(%x) shared  %y = Neg(%n)",
                        "%n = BitwiseNot(%x) shared  %y = BitwiseNot(%n)"},
              .emit = "%y = %x"};
}

TERN_RULE(RemoveIdempotent) {
  return Rule{.summary =
                  "Relu or Abs of what is never negative; Ceil, Floor or Round of whole numbers; Sign of "
                  "Sign",
              .roots = {"Unary:relu", "Unary:abs", "Unary:ceil", "Unary:floor", "Unary:round", "Unary:sign"},
              .apply = RemoveIdempotent,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { %y = Tanh(Relu(Sigmoid(%x))) })"};
}

}  // namespace tern
