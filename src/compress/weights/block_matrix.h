// Weights of few bits with one scale per block.
#pragma once
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace tern::compress {

struct BlockFormat {
  int bits = 4;        // 4 or 8
  int64_t block = 32;  // consecutive weights of an output that share a scale; 0 means all of them
  // Whether the scale of a block is searched for the least squared error. Otherwise the largest magnitude
  // determines it.
  bool search = true;

  int low() const { return bits == 4 ? -8 : -127; }
  int high() const { return bits == 4 ? 7 : 127; }
};

// A matrix of a linear layer, [outputs][inputs]. Element (o, i) is q * scale. Scales are exact in f16.
struct BlockMatrix {
  BlockMatrix(int64_t outputs, int64_t inputs, const BlockFormat& format);
  int64_t block_of(int64_t input) const { return input / block; }
  float At(int64_t output, int64_t input) const;

  int64_t outputs, inputs, block, blocks;
  std::vector<int8_t> q;     // [outputs][inputs]
  std::vector<float> scale;  // [outputs][blocks]
};

// Returns the scale of a block of `count` weights. If `importance` is not null, it has the weight of each
// squared error.
float BlockScale(const float* w, int64_t count, const BlockFormat& format, const float* importance = nullptr);

// Returns the integer whose product with the scale is nearest to w.
int8_t Nearest(float w, float scale, const BlockFormat& format);

// Rounds each weight of w, [outputs][inputs], to the nearest. `importance` may be null, or have one element
// per input.
BlockMatrix RoundToNearest(const std::vector<float>& w, int64_t outputs, const BlockFormat& format,
                           const float* importance, const Workers& workers);

}  // namespace tern::compress
