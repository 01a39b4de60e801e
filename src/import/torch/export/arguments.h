// Reads arguments, types and sizes of an exported program.
#pragma once
#include <map>
#include <string>

#include "import/torch/arg.h"
#include "import/torch/export/json.h"

namespace tern::torch {

using Names = std::map<std::string, Arg, std::less<>>;  // the values of a graph

// Returns the element type with this number in the schema of exported programs, or kInvalid.
DType DTypeOfExport(int64_t number);

// An argument of a node: a value of the graph, a literal, or a list. Graphs are not arguments of this kind.
Result<Arg> ReadArgument(Json json, const Names& names);

// Assigns a result to the names that a node's output has.
Status BindOutput(Json output, const Arg& result, Names& names);
// Appends the names of an output, in order; empty for an output without a name.
Status NamesOfOutput(Json output, std::vector<std::string>& names);

struct TensorMeta {
  DType dtype = DType::kInvalid;  // a complex type becomes its real type, with a last dim of size 2
  bool complex = false;
  std::vector<Dim> sizes;
  std::vector<Dim> strides;
  Dim offset;

  tern::Type type() const { return tern::Type::TensorOf(dtype, tern::Shape(sizes)); }
};
Result<TensorMeta> ReadTensorMeta(Json json);

}  // namespace tern::torch
