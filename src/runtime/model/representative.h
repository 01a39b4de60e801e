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
// declares. Where they are open: 16 rows of a product, one image, one sequence of one step. Nothing for
// convolutions of several taps over images of open size, as what is the best for small ones is not for large
// ones; of one tap: 32 by 32. The dims of `query` itself do not matter: pieces of a batch are decided like
// the whole.
std::optional<Representative> RepresentativeQuery(const Node& node, KernelQuery query);

}  // namespace tern
