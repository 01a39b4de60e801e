// A hash of what a graph computes.
#pragma once
#include "ir/graph.h"

namespace tern {

// The hash depends on the ops, attributes, edges and constants of the graph and its nested graphs. It
// does not depend on names and types. A value of an enclosing graph counts only by the order in which
// the graph first uses it.
uint64_t HashOf(const Graph& graph);

}  // namespace tern
