// Packs 8-bit weights into panels.
#pragma once
#include "kernels/cpu/byte/byte_tile.h"

namespace tern::cpu {

// Packs columns [n0, n0 + n) of the weights, which have k rows, into one panel with zeros after the last
// column. `row` and `column` are the strides of the weights in elements. n must be at most table.columns.
// Adds the sum of each packed column to sums[0 … n).
void PackBytePanel(const ByteTileTable& table, const ByteWeights& w, int64_t row, int64_t column, int64_t k,
                   int64_t n0, int64_t n, int8_t* to, int32_t* sums);

}  // namespace tern::cpu
