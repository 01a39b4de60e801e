// The dims that decide how a node's weights are packed.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "kernel_api/kernel.h"

namespace tern {

struct Representative {
  KernelQuery query;
  bool open = false;  // the node may have other dims than these
};

// A node whose weights may be packed, with dims that stand for all it may have: those that the graph
// declares, and where they are open those that its op calls typical (OpDef::typical_dim). Nothing where no
// size stands for all. The dims of `query` itself do not matter: pieces of a batch are decided like the
// whole.
std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query);

}  // namespace tern
