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
// Finds an op by name, or the op that has a kind of that name ("ReduceMean" → Reduce mean, "LeakyRelu" →
// Activation).
std::optional<OpMeaning> ResolveOp(const std::string& name);

}  // namespace tern
