// Replaces divisions by constants with multiplications, which are cheaper. These rules run after the
// recompose stage, because patterns there match divisions.
#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool Floats(const Match& m) { return IsFloatValue(m.At("y")) || m.Skip("integer division truncates"); }

bool Invertible(const Match& m) {
  if (!Floats(m)) return false;
  const Tensor t = m["c"].Contiguous();
  for (int64_t i = 0; i < t.size(); ++i) {
    const auto inverse = static_cast<float>(1 / LoadDouble(t, i));
    if (!std::isnormal(inverse)) return m.Skip("the inverse of a divisor is not a normal f32 number");
    if (t.dtype() == DType::kF16 && (std::abs(inverse) > 65504 || std::abs(inverse) < 0x1p-14f))
      return m.Skip("the inverse of a divisor does not fit into f16");
  }
  return true;
}

}  // namespace

TERN_RULE(ReplaceDivByConstant) {
  return Rule{
      .summary =
          "x / c is x * (1 / c), which is exact if c is a power of two, and else differs by at most one rounding",
      .level = Level::kExtended,
      .match = {"%y = %x / #c"},
      .emit = "%y = %x * (1 / #c)",
      .when = Invertible};
}
TERN_RULE(ReplaceMulOfReciprocal) {
  return Rule{.summary = "a * (1 / b) is a / b",
              .level = Level::kExtended,
              .match = {"%y = %a * Reciprocal(%b)", "%y = %a * (1 / %b)"},
              .emit = "%y = %a / %b",
              .when = Floats};
}
TERN_RULE(ReplaceDivOfOne) {
  return Rule{.summary = "1 / x is Reciprocal(x)",
              .level = Level::kExtended,
              .match = {"%y = #c / %x"},
              .emit = "%y = Reciprocal(%x)",
              .when = [](const Match& m) {
                if (!Floats(m)) return false;
                const auto all = UniformOf(m.At("c"));
                if (!all || *all != 1) return m.Skip("the constant is not 1");
                return BroadcastsInto(m.At("c"), m.At("x")) ||
                       m.Skip("the constant broadcasts the result to a larger shape");
              }};
}

}  // namespace tern
