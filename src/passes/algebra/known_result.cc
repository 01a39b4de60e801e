// Replaces results that are the same for all inputs, such as x - x, by constants. Most of these rules are not
// valid for floats, which may be NaN or inf.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

constexpr int64_t kMaxElements = 1 << 16;  // a larger result is cheaper to compute than to store

// Replaces the root's result by a constant with all elements equal to v.
bool ReplaceAll(Rewrite& r, double v) {
  const Value* y = r.root().output(0);
  const auto count = CountOf(y);
  if (!count || *count > kMaxElements) return r.Skip("the shape is not known, or the result is large");
  Tensor t(y->type.dtype, y->type.shape.Concrete());
  for (int64_t i = 0; i < t.size(); ++i) StoreDouble(t, i, v);
  return r.Replace(r.Const(std::move(t)));
}

bool HasUniform(const Node& node, double v) {
  for (const Value* in : node.inputs())
    if (const auto all = UniformOf(in); all && *all == v) return true;
  return false;
}

bool MulByZero(Rewrite& r) {
  const Node& node = r.root();
  if (IsFloatValue(node.output(0))) return r.Skip("a float may be inf or NaN");
  if (!HasUniform(node, 0)) return r.Skip("no operand is zero");
  return ReplaceAll(r, 0);
}

bool LogicWithConstant(Rewrite& r) {
  const double absorbing = IsOp(r.root(), "Binary", "or") ? 1 : 0;
  if (!HasUniform(r.root(), absorbing)) return r.Skip("no operand is a constant that determines the result");
  return ReplaceAll(r, absorbing);
}

bool WithItself(Rewrite& r) {
  const Node& node = r.root();
  if (node.input(0) != node.input(1)) return r.Skip("the operands differ");
  const std::string kind = KindName(node);
  const bool strict = kind == "less" || kind == "greater";
  if (IsFloatValue(node.input(0)) && !strict) return r.Skip("a float may be inf or NaN");
  const bool holds = kind == "equal" || kind == "less_equal" || kind == "greater_equal";
  return ReplaceAll(r, holds ? 1 : 0);
}

}  // namespace

TERN_RULE(ReplaceMulByZero) {
  return Rule{.summary = "integers times 0 are 0",
              .roots = {"Binary:mul", "Binary:bit_and"},
              .apply = MulByZero,
              .example = R"(graph @g(%x: i32[2], %z: i32[2]) -> (%y) { #c: i32[] = (0) %y = %z + %x * #c })"};
}
TERN_RULE(ReplaceDecidedLogic) {
  return Rule{.summary = "x and false is false, x or true is true",
              .roots = {"Binary:and", "Binary:or"},
              .apply = LogicWithConstant,
              .example = R"(graph @g(%x: bool[2]) -> (%y) { #c: bool[] = (true) %y = Not(Or(%x, #c)) })"};
}
TERN_RULE(ReplaceResultWithItself) {
  return Rule{
      .summary = "x - x, x xor x and comparisons of x with x are constant; for floats, only x < x and x > x",
      .roots = {"Binary:sub", "Binary:xor", "Binary:bit_xor", "Binary:equal", "Binary:less",
                "Binary:less_equal", "Binary:greater", "Binary:greater_equal"},
      .apply = WithItself,
      .example = R"(graph @g(%x: i32[2], %z: i32[2]) -> (%y) { %y = %z + (%x - %x) })"};
}

}  // namespace tern
