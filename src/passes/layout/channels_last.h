// Which parts of a graph work on [N, spatial…, C].
#pragma once
#include "passes/context.h"

namespace tern {

// Convolutions with constant weights, and what lies between them, take their images with the channels last
// where that saves more than the Transposes at the borders cost; see channels_last.cc for how that is
// weighed. Returns how many nodes changed.
Result<int> ChannelsLastRegions(Graph& graph, PassContext& context);

}  // namespace tern
