// The weights of a resampling filter in fixed point.
#pragma once
#include <cstdint>
#include <vector>

#include "data/image/resize.h"

namespace tern::data {

constexpr int kWeightBits = 22;  // a weight of 1 is 1 << 22
constexpr int kLowBits = 11;     // a weight is (high << kLowBits) + low
constexpr int kTapBlock = 16;    // the weights of an output are padded with zeros to a multiple of this

// Output i is the sum of source elements first[i] + k, weighted, for k from 0 to count[i] - 1. The weights
// of output i start at i * stride. Each weight is stored in two halves of 16 bits, because the product of an
// 8-bit pixel with a half fits the multiply-add instructions of SIMD units.
struct Taps {
  int outputs = 0;
  size_t stride = 0;
  std::vector<int32_t> first, count;
  std::vector<int16_t> low, high;
  int32_t weight(int output, int k) const {
    const size_t at = static_cast<size_t>(output) * stride + static_cast<size_t>(k);
    return static_cast<int32_t>(static_cast<uint32_t>(high[at]) << kLowBits) + low[at];
  }
};

// MakeTaps makes the taps of the outputs [begin, end). There are `to` outputs in all, which cover the
// interval from `low` to `high` of `from` source elements. `filter` must not be kNearest. The limits have the
// precision that Pillow gives them.
struct TapRange {
  int from, to;
  float low, high;
  int begin, end;
};
Taps MakeTaps(Filter filter, const TapRange& range);

// Returns the source element of each output from `begin` to `end` - 1 with the filter kNearest.
std::vector<int32_t> NearestTaps(const TapRange& range);

}  // namespace tern::data
