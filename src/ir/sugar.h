// Resolves short op names. For example, Relu(x) means Unary(x) {kind="relu"}.
#pragma once
#include <optional>
#include <string>

#include "ir/op_def.h"

namespace tern {

struct OpMeaning {
  const OpDef* op;
  std::string kind;  // empty if the text names the op itself
};
// Finds the op with this name, or an op with a kind of this name. For example, "ReduceMean" is Reduce with
// kind "mean", and "LeakyRelu" is Activation with kind "leaky_relu".
std::optional<OpMeaning> ResolveOp(const std::string& name);

}  // namespace tern
