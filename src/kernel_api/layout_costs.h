// What the optimizer weighs when it chooses layouts.
#pragma once

namespace tern {

// What the choice of a layout for images weighs, in bytes of memory traffic.
struct LayoutCosts {
  // What a convolution loses for each floating-point operation when channels come first, and what its copies
  // add, shared among the maps of a group; at most the last.
  double bytes_per_flop = 0.1, bytes_per_copy = 4, most_bytes_per_flop = 1;
};

}  // namespace tern
