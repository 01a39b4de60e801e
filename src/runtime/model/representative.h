// Representative dims of a node. They decide the pack layout of its weights.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "kernel_api/kernel.h"

namespace tern {

struct Representative {
  KernelQuery query;
  bool has_unknown_dims = false;  // some dims are chosen: the node can also run with others
};

// The query of a node with weights, with representative dims: the declared ones, and for unknown dims the
// typical ones of its op (OpDef::typical_dim). nullopt if a dim has no typical size. Ignores the dims of the
// inputs of `query` that are not weights, so that all slices of a split batch get the same layout.
std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query);

}  // namespace tern
