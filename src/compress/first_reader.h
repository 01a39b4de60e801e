// Where a node that reads a value can be inserted.
#pragma once
#include "ir/graph.h"

namespace tern::compress {

// Returns the first node of the graph that reads v, directly or in a nested graph. Returns null if none does.
Node* FirstReader(const Graph& graph, const Value& v);

}  // namespace tern::compress
