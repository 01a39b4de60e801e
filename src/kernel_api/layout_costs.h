// Costs by which the optimizer chooses between channels-first and channels-last layouts.
#pragma once

namespace tern {

// In bytes of memory traffic.
struct LayoutCosts {
  // Penalty of a channels-first convolution per floating-point operation: bytes_per_flop + bytes_per_copy
  // divided by the output channels of a group, at most most_bytes_per_flop.
  double bytes_per_flop = 0.1, bytes_per_copy = 4, most_bytes_per_flop = 1;
};

}  // namespace tern
