// Costs by which the optimizer chooses between channels-first and channels-last layouts.
#pragma once

namespace tern {

// The unit of all costs is one byte of memory traffic.
struct LayoutCosts {
  // A channels-first convolution costs more than a channels-last one. The additional cost per floating-point
  // operation is the lesser of most_bytes_per_flop and
  // bytes_per_flop + bytes_per_copy / (output channels per group).
  double bytes_per_flop = 0.1, bytes_per_copy = 4, most_bytes_per_flop = 1;
};

}  // namespace tern
