// What convolutions cost, so that kernels for the same one can be compared.
#pragma once
#include "kernels/cpu/conv/conv.h"

namespace tern {

// Microseconds on one core that does 100 GFLOP/s. efficiency: the part of its multiplications, counted as the
// convolution is defined, that the kernel gets done in that time; Winograd's is above 1.
inline double ConvCost(const cpu::ConvShape& s, double efficiency) {
  const double products = static_cast<double>(s.batch) * static_cast<double>(s.output_size()) *
                          static_cast<double>(s.maps) * static_cast<double>(s.taps() * s.group_channels());
  return 2 * products / (1e5 * efficiency);
}

}  // namespace tern
