// Writes the decisions of quantization into a graph, as pairs of Quantize and Dequantize.
#pragma once
#include <vector>

#include "compress/quantize/grid.h"
#include "compress/quantize/placement.h"
#include "compress/quantize/weights.h"

namespace tern::compress {

// The integers of one layer.
struct LayerWeights {
  IntegerWeights weights;
  std::vector<float> bias;  // one per row; empty if the layer has none
};

// Adds a Quantize and a Dequantize after each value of the placement. The readers of the value, and outputs
// of the graph, then read the Dequantize. The weights of each layer become an integer constant with a
// Dequantize. If `integer_bias` is set, the bias becomes i32 in units of the scales of operand and weights,
// as other engines need it; otherwise it stays f32, and sessions round it in the same way. `grids` has one
// grid per group, `weights` one entry per layer.
Status InsertGrids(Graph& graph, const Placement& placement, const std::vector<Grid>& grids,
                   const std::vector<LayerWeights>& weights, bool integer_bias);

}  // namespace tern::compress
