// Representative dims of a node. They decide the pack layout of its weights.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "kernel_api/kernel.h"

namespace tern {

struct Representative {
  KernelQuery query;
  bool has_unknown_dims = false;  // some dims are not declared, so a run may have other dims
};

// Returns `query` with representative dims. A dim that the model declares keeps its size. An unknown dim gets
// the size that OpDef::typical_dim returns. Returns nullopt if the node has no weights, or if a dim has no
// typical size. The result depends on the dims of the weights in `query`, but not on the dims of its other
// inputs. So all slices of a split batch get the same layout.
std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query);

}  // namespace tern
