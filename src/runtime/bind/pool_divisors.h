// Computes the divisors of average pooling.
#pragma once
#include "kernels/cpu/pool/pool.h"
#include "ops/support/window.h"

namespace tern {

// Returns how many taps of each window lie inside the input, for each axis. If with_padding is true,
// taps inside the padding count too. Returns empty lists if the output is empty.
inline cpu::PoolDivisors PoolDivisorsOf(const cpu::ConvShape& s, const Window& window, bool with_padding) {
  cpu::PoolDivisors divisors;
  if (s.batch == 0 || s.channels == 0 || std::count(s.output.begin(), s.output.end(), 0) > 0) return divisors;
  for (size_t axis = 0; axis < 3; ++axis) {
    const size_t missing = 3 - window.axes.size();
    const int64_t end = axis < missing ? 0 : window.axes[axis - missing].end;
    for (int64_t o = 0; o < s.output[axis]; ++o) {
      const int64_t start = o * s.stride[axis] - s.begin[axis];
      const cpu::Inside taps =
          with_padding ? cpu::InsideOf(0, s.dilation[axis], s.input[axis] + end - start, s.kernel[axis])
                       : cpu::InsideOf(start, s.dilation[axis], s.input[axis], s.kernel[axis]);
      divisors[axis].push_back(static_cast<float>(taps.last - taps.first));
    }
  }
  return divisors;
}

}  // namespace tern
