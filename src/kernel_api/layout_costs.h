// Costs by which the optimizer chooses between channels-first and channels-last layouts.
#pragma once

namespace tern {

// The unit of all costs is one byte of memory traffic.
struct LayoutCosts {
  // The penalty of a channels-first convolution per floating-point operation is bytes_per_flop +
  // bytes_per_copy / (output channels per group), but at most most_bytes_per_flop.
  double bytes_per_flop = 0.1, bytes_per_copy = 4, most_bytes_per_flop = 1;
};

}  // namespace tern
