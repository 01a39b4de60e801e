// A hash of what a graph computes.
#pragma once
#include "ir/graph.h"

namespace tern {

// The hash depends on the ops, attributes, edges and constants of the graph and its nested graphs. It
// does not depend on names and types. Values of enclosing graphs are numbered in the order in which the
// graph first uses them. The hash depends on these numbers, and on the data if the value is a constant.
uint64_t HashOf(const Graph& graph);

}  // namespace tern
