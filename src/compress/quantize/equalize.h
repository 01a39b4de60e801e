// Cross-layer equalization: moves factors of channels from one layer to the next, so that the channels of an
// activation have similar ranges (Nagel et al., 2019).
#pragma once
#include <functional>

#include "compress/quantize/observe.h"
#include "compress/quantize/placement.h"

namespace tern::compress {

// Two layers with only a Relu, or nothing, between them. A factor of a channel between them can be divided
// out of the first layer and multiplied into the second one, without a change of the function.
struct LayerPair {
  Node *first, *second;
  Value* between;  // the operand of the second layer
};
std::vector<LayerPair> EqualizablePairs(const Placement& placement);

// Changes the weights and biases of the graph. The factor of a channel is the root of the ratio of the
// largest activation to the largest weight that reads it, divided by the geometric mean of the pair's factors
// and limited to [1/16, 16]. `channels` returns the channels of the observed value. Returns the number of
// pairs that changed.
int Equalize(Graph& graph, const std::vector<LayerPair>& pairs,
             const std::function<const Channels&(const Value&)>& channels);

}  // namespace tern::compress
