// Calls aten operators. Both front ends, torch.export and TorchScript, import operators with these functions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "import/torch/aten/schema.h"
#include "import/torch/tensors.h"

namespace tern::torch {

// The node of the model to which a call belongs, for errors and profiles.
struct Place {
  std::string name;    // "encoder.layer.0.linear"
  std::string origin;  // "aten::linear, pt2 node #12"
};

// Emits the ops of an operator and returns its results: one Arg per return of the schema. `op` may name an
// overload, such as "aten::add.Tensor". If it does not, such as "aten::add", the arguments select the
// overload. "aten::add.default" is the overload without a name. A result that shares memory with an argument
// becomes a view of it. An in-place operator gives its first argument a new value.
Result<std::vector<Arg>> Call(TorchContext& context, std::string_view op, const std::vector<Arg>& args,
                              const Keywords& keywords, const Place& place);

// Returns whether Call supports the operator and overload. If `op` names no overload, one supported overload
// suffices.
bool Supports(std::string_view op);

// Splits "aten::add.Tensor" into "aten::add" and "Tensor". The overload is empty if `op` has none.
struct OpName {
  std::string name, overload;
  bool has_overload = false;
};
OpName SplitOp(std::string_view op);

}  // namespace tern::torch
