// What convolutions cost, so that kernels for the same one can be compared.
#pragma once
#include <initializer_list>

#include "kernels/cpu/conv/conv.h"

namespace tern {

// Of sizes that memory need not hold: of an empty batch of huge images.
inline double ProductOf(std::initializer_list<int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}
inline double ProductOf(const cpu::Spatial& s) { return ProductOf({s[0], s[1], s[2]}); }

// Microseconds on one core that does 100 GFLOP/s. efficiency: the part of its multiplications, counted as the
// convolution is defined, that the kernel gets done in that time; Winograd's is above 1.
inline double ConvCost(const cpu::ConvShape& s, double efficiency) {
  const double products =
      ProductOf(s.output) * ProductOf(s.kernel) * ProductOf({s.batch, s.maps, s.group_channels()});
  return 2 * products / (1e5 * efficiency);
}

}  // namespace tern
