// Removes Neg and Abs before even functions, and ops whose two operands are equal.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool IsOneOf(const std::string& kind, std::initializer_list<const char*> list) {
  for (const char* k : list)
    if (kind == k) return true;
  return false;
}

// Removes a Neg or Abs before an even function: abs, cos or cosh.
bool IgnoreSign(Rewrite& r) {
  const Node* inner = MadeBy(r.root().input(0), "Unary");
  if (!inner || !IsOneOf(KindName(*inner), {"neg", "abs"}))
    return r.Skip("the input is not made by Neg or Abs");
  if (!IsFloatValue(inner->input(0))) return r.Skip("the negation of an integer may wrap");
  return r.Replace(r.Op(*r.root().op, r.root().attrs, {inner->input(0)}));
}

bool RemoveEqualOperand(Rewrite& r) {
  if (r.root().input(0) != r.root().input(1)) return r.Skip("the operands differ");
  return r.Replace(r.root().input(0));
}

}  // namespace

TERN_RULE(RemoveSignBeforeEvenFunction) {
  return Rule{.summary = "abs(-x) is abs(x), cos(-x) is cos(x)",
              .roots = {"Unary:abs", "Unary:cos", "Unary:cosh"},
              .apply = IgnoreSign,
              .example = R"(graph @g(%x: f32[N]) -> (%y) { %y = Cos(Neg(%x)) })"};
}
TERN_RULE(RemoveSameOperands) {
  return Rule{
      .summary = "max(x, x), min(x, x), x and x, x or x are x",
      .roots = {"Binary:max", "Binary:min", "Binary:and", "Binary:or", "Binary:bit_and", "Binary:bit_or"},
      .apply = RemoveEqualOperand,
      .example = R"(graph @g(%x: f32[N]) -> (%y) { %a = Max(%x, %x) %y = Neg(%a) })"};
}

}  // namespace tern
