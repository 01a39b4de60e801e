// Short names: `Relu(x)` for Unary(x) {kind="relu"}.
#pragma once
#include <optional>
#include <string>

#include "ir/op_def.h"

namespace tern {

struct OpMeaning {
  const OpDef* op;
  std::string kind;  // empty: the op itself was named
};
// An op by name, or the family that has a kind of that name ("ReduceMean" → Reduce mean, "LeakyRelu" →
// Activation).
std::optional<OpMeaning> ResolveOp(const std::string& name);

}  // namespace tern
