// Names with dots in TorchScript's code.
#pragma once
#include <map>
#include <string>

#include "import/torch/script/item.h"

namespace tern::torch::script {

// Returns "torch.add" for such an expression. Returns "" if the expression does not start with a namespace:
// torch, ops, __torch__ or CONSTANTS. A variable of that name hides the namespace.
std::string DottedName(const Expr& expr, const std::map<std::string, Item>& variables);

// "torch.add" is "aten::add", and "ops.prim.min" is "prim::min". Returns "" for other names.
std::string OpOf(const std::string& dotted);

}  // namespace tern::torch::script
