// Common subexpressions: what is computed or stored twice is computed or stored once.
#pragma once
#include "passes/context.h"

namespace tern {

// Constants of up to a few kilobytes with the same bytes become one. Returns how many went.
Result<int> ShareConstants(Graph& graph, PassContext& context);
// Pure nodes with the same op, attributes and inputs become one; a nested graph uses what the graph around it
// has computed already. Returns how many went.
Result<int> ShareNodes(Graph& graph, PassContext& context);

}  // namespace tern
