// Rounds the weights and the bias of a layer to integers.
#pragma once
#include <vector>

#include "compress/quantize/placement.h"

namespace tern::compress {

// Weights as a matrix with one row per output channel, whatever their layout in the node.
struct WeightRows {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;  // row by row

  const float* row(int64_t r) const { return values.data() + r * columns; }
  float* row(int64_t r) { return values.data() + r * columns; }
};
int WeightAxis(const Node& node);  // the axis of the weights that has the output channels
WeightRows RowsOf(const Node& node);
// Returns the rows in the layout of the node's weights.
Tensor WeightsFrom(const Node& node, const WeightRows& rows);

struct IntegerWeights {
  int64_t rows = 0, columns = 0;
  std::vector<int8_t> values;  // row by row
  std::vector<float> scales;   // one per row

  float Real(int64_t row, int64_t column) const {
    return static_cast<float>(values[static_cast<size_t>(row * columns + column)]) *
           scales[static_cast<size_t>(row)];
  }
};

struct WeightOptions {
  bool per_channel = true;  // otherwise one scale for all
  bool search = false;  // the scale with the least squared error; otherwise the largest weight becomes 127
};

// Rounds to nearest, symmetrically: integers are -127 to 127. `bias` has the bias of each row, or is empty; a
// scale is increased where the bias, in units of `input_scale` times the scale, would not fit into 30 bits.
IntegerWeights RoundWeights(const WeightRows& rows, const std::vector<float>& bias, float input_scale,
                            const WeightOptions& options);

}  // namespace tern::compress
