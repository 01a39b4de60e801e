// Chooses the parts of a graph that work on [N, spatial…, C].
#pragma once
#include "passes/context.h"

namespace tern {

// Converts convolutions with constant weights, and the nodes between them, to channels last. Does so only
// where this saves more than the Transposes at the borders cost. channels_last.cc describes the cost model.
// Returns the number of nodes changed.
Result<int> ChannelsLastRegions(Graph& graph, PassContext& context);

}  // namespace tern
