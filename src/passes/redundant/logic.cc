// Simplifies Where, double negation and idempotent functions.
#include <algorithm>
#include <string_view>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool RemoveDecidedWhere(Rewrite& r) {
  const Node& node = r.root();
  const auto condition = UniformOf(node.input(0));
  Value *a = node.input(1), *b = node.input(2);
  if (!condition && a != b) return r.Skip("the condition is not the same constant for all elements");
  Value* taken = condition && *condition == 0 ? b : a;
  if (!SameShape(taken, node.output(0)))
    return r.Skip("the chosen operand may have another shape than the result");
  return r.Replace(taken);
}

bool IsOneOf(std::string_view kind, std::initializer_list<const char*> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// True if the result is never negative. NaN is allowed.
bool NotNegative(const Node& node) {
  if (IsOp(node, "Unary")) return IsOneOf(KindName(node), {"abs", "relu", "sigmoid", "exp", "softplus"});
  if (IsOp(node, "Reduce")) return IsOneOf(KindName(node), {"l1", "l2", "sum_square"});
  return IsOp(node, "Softmax", "softmax");
}

// True if kind(v) = v.
bool IsRedundant(const std::string& kind, const Value* v) {
  if (!v->producer) return false;
  const Node& inner = *v->producer;
  if (kind == "abs" || kind == "relu") return IsFloatValue(v) && NotNegative(inner);
  if (!IsOp(inner, "Unary")) return false;
  if (kind == "sign") return KindName(inner) == "sign";
  return IsOneOf(kind, {"ceil", "floor", "round"}) && IsOneOf(KindName(inner), {"ceil", "floor", "round"});
}

bool RemoveIdempotent(Rewrite& r) {
  Value* v = r.root().input(0);
  if (!IsRedundant(KindName(r.root()), v)) return r.Skip("the function may change its input");
  return r.Replace(v);
}

}  // namespace

TERN_RULE(RemoveDecidedWhere) {
  return Rule{
      .summary =
          "a Where with a constant condition, or with two equal values, is replaced by the value that it chooses",
      .roots = {"Where"},
      .apply = RemoveDecidedWhere,
      .example = R"(graph @g(%a: f32[N,4], %b: f32[N,4]) -> (%y) {
  #c: bool[1] = (1)
  %y = Relu(Where(#c, %a, %b))
})"};
}

TERN_RULE(SwapWhere) {
  return Rule{.summary = "a Where with a negated condition is a Where with swapped values",
              .match = {"%n = Not(%c) shared  %y = Where(%n, %a, %b)"},
              .emit = "%y = Where(%c, %b, %a)"};
}

TERN_RULE(RemoveDoubleNegation) {
  return Rule{.summary = "Not, Neg or BitwiseNot applied twice is removed",
              .match = {"%n = Not(%x) shared  %y = Not(%n)", "%n = Neg(%x) shared  %y = Neg(%n)",
                        "%n = BitwiseNot(%x) shared  %y = BitwiseNot(%n)"},
              .emit = "%y = %x"};
}

TERN_RULE(RemoveIdempotent) {
  return Rule{
      .summary =
          "a Relu or Abs of values that are never negative, a Ceil, Floor or Round of rounded values, and a "
          "Sign of Sign are removed",
      .roots = {"Unary:relu", "Unary:abs", "Unary:ceil", "Unary:floor", "Unary:round", "Unary:sign"},
      .apply = RemoveIdempotent,
      .example = R"(graph @g(%x: f32[N,4]) -> (%y) { %y = Tanh(Relu(Sigmoid(%x))) })"};
}

}  // namespace tern
