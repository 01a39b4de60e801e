#include "passes/recompose/conditions.h"

#include "passes/rewrite/rule.h"

namespace tern {

bool HasFloatX(const Match& m) { return IsFloatValue(m.At("x")) || m.Skip("the type is not a float"); }

bool HasScalarSlope(const Match& m) {
  return ScalarOf(m.At("a")) ? HasFloatX(m) : m.Skip("the slope is not one number");
}

}  // namespace tern
