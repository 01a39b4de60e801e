// GELU in its spellings.
#include "passes/rewrite/rule.h"

namespace tern {

TERN_RULE(RecomposeGelu) {
  return Rule{
      .summary = "x * 0.5 * (1 + erf(x / sqrt(2))) is GELU",
      .level = Level::kExtended,
      .match = {"%y = %x * 0.5 * (Erf(%x / 1.41421356237) + 1)",
                "%y = %x * (Erf(%x / 1.41421356237) + 1) * 0.5",
                "%y = %x * ((Erf(%x / 1.41421356237) + 1) * 0.5)",
                "%y = %x * 0.5 * (Erf(%x * 0.70710678118) + 1)",
                "%y = %x * (Erf(%x * 0.70710678118) + 1) * 0.5",
                "%y = %x * ((Erf(%x * 0.70710678118) + 1) * 0.5)"},
      .emit = R"(%y = Gelu(%x) {approximate="none"})",
  };
}

}  // namespace tern
