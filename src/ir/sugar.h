// Resolves short op names: Relu(x) means Unary(x) {kind="relu"}.
#pragma once
#include <optional>
#include <string>

#include "ir/op_def.h"

namespace tern {

struct OpMeaning {
  const OpDef* op;
  std::string kind;  // empty if the text names the op itself
};
// Finds an op by name, or an op that has a kind of that name: "ReduceMean" is Reduce with kind "mean", and
// "LeakyRelu" is Activation with kind "leaky_relu".
std::optional<OpMeaning> ResolveOp(const std::string& name);

}  // namespace tern
