// Removes operations with a neutral constant: x * 1, x - 0, x ^ 1.
#include <cmath>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// The neutral constant of an operation. If `left` is true, the constant may also be the left operand.
struct Neutral {
  const char* kind;
  double value;
  bool left;
};
constexpr Neutral kNeutral[] = {{"add", 0, true},     {"sub", 0, false},        {"mul", 1, true},
                                {"div", 1, false},    {"pow", 1, false},        {"and", 1, true},
                                {"or", 0, true},      {"xor", 0, true},         {"bit_or", 0, true},
                                {"bit_xor", 0, true}, {"shift_left", 0, false}, {"shift_right", 0, false}};

// Returns the operand that equals the result because the other operand is neutral, and stores the neutral
// value in *constant. Returns null if no operand is neutral.
Value* OtherOperand(const Node& node, double* constant) {
  const std::string kind = KindName(node);
  for (const Neutral& n : kNeutral) {
    if (kind != n.kind) continue;
    for (int i : {1, 0}) {
      const auto c = UniformOf(node.input(i));
      Value* x = node.input(1 - i);
      if (!c || *c != n.value || (i == 0 && !n.left) || !SameShape(x, node.output(0))) continue;
      *constant = *c;
      return x;
    }
  }
  return nullptr;
}

// True for x + 0 and x - (-0) of floats. The result of these operations is +0 if x is -0, so their removal
// would change the sign of a zero.
bool ChangesZeroSign(const Node& node, double constant) {
  const std::string kind = KindName(node);
  if (!IsFloatValue(node.output(0)) || constant != 0) return false;
  return kind == "add" ? !std::signbit(constant) : std::signbit(constant);
}

bool RemoveNeutral(Rewrite& r) {
  double constant = 0;
  Value* x = OtherOperand(r.root(), &constant);
  if (!x) return r.Skip("no operand is a neutral constant");
  if (ChangesZeroSign(r.root(), constant)) return r.Skip("the operation changes -0 to +0");
  return r.Replace(x);
}

bool RemoveAddZero(Rewrite& r) {
  double constant = 0;
  Value* x = OtherOperand(r.root(), &constant);
  if (!x) return r.Skip("no operand is a neutral constant");
  return r.Replace(x);
}

}  // namespace

TERN_RULE(RemoveNeutral) {
  return Rule{
      .summary =
          "an operation with a neutral constant is removed: x * 1, x / 1, "
          "x - 0, x ^ 1, x and true",
      .roots = {"Binary"},
      .apply = RemoveNeutral,
      .example = R"(graph @g(%x: f32[N,4]) -> (%y) { #one: f32[4] = (1, 1, 1, 1) %y = Relu(%x * #one) })"};
}

TERN_RULE(RemoveAddZero) {
  return Rule{.summary = "x + 0 for floats is removed, although it changes -0 to 0",
              .level = Level::kExtended,
              .roots = {"Binary:add", "Binary:sub"},
              .apply = RemoveAddZero,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { #zero: f32[] = (0) %y = Relu(%x + #zero) })"};
}

}  // namespace tern
