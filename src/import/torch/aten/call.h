// Calls of aten operators. Both front ends, torch.export and TorchScript, import operators with these
// functions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "import/torch/aten/schema.h"
#include "import/torch/tensors.h"

namespace tern::torch {

// The node of the model that a call belongs to. Errors and profiles show it.
struct Place {
  std::string name;    // "encoder.layer.0.linear"
  std::string origin;  // "aten::linear, pt2 node #12"
};

// Emits the ops of an operator and returns its results: one Arg per return of the schema. `op` is
// "aten::add", whose overload the arguments select, or "aten::add.Tensor". "aten::add.default" is the
// overload without a name. A result that shares memory with an argument becomes a view of it. An in-place
// operator gives its first argument a new value.
Result<std::vector<Arg>> Call(TorchContext& context, std::string_view op, const std::vector<Arg>& args,
                              const Keywords& keywords, const Place& place);

// Returns whether Call knows the operator and overload. Without an overload, one known overload suffices.
bool Supports(std::string_view op);

// Splits "aten::add.Tensor" into "aten::add" and "Tensor". The overload is empty if `op` has none.
struct OpName {
  std::string name, overload;
  bool has_overload = false;
};
OpName SplitOp(std::string_view op);

}  // namespace tern::torch
