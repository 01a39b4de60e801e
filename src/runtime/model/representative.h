// Representative dims of a node. They decide the pack layout of its weights.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "kernel_api/kernel.h"

namespace tern {

struct Representative {
  KernelQuery query;
  bool has_unknown_dims = false;  // some dims are not declared, so the node can also run with other dims
};

// Returns the query of a node with weights, with representative dims. These are the declared dims, and the
// typical sizes of the op for unknown dims (OpDef::typical_dim). Returns nullopt if a dim has no typical
// size. Ignores the dims of the inputs of `query` that are not weights, so that all slices of a split batch
// get the same layout.
std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query);

}  // namespace tern
