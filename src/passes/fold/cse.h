// Common subexpression elimination for constants and nodes.
#pragma once
#include "passes/context.h"

namespace tern {

// Merges constants with equal type, dims and bytes, except strings. A constant of a nested graph may also be
// merged into a constant of an enclosing graph, but not if the nested graph is the body of a Fused node.
// Returns the number of constants removed.
Result<int> ShareConstants(Graph& graph, PassContext& context);
// Merges pure nodes with the same op, attributes and inputs, except random nodes and nodes with nested
// graphs. Nested graphs are treated as in ShareConstants. Returns the number of nodes removed.
Result<int> ShareNodes(Graph& graph, PassContext& context);

}  // namespace tern
