// What averages over windows are divided by.
#pragma once
#include "kernels/cpu/pool/pool.h"
#include "ops/support/window.h"

namespace tern {

// Taps of each window that lie inside the input, or inside the padded input.
inline cpu::PoolDivisors PoolDivisorsOf(const cpu::ConvShape& s, const Window& window, bool with_padding) {
  cpu::PoolDivisors divisors;
  for (size_t axis = 0; axis < 3; ++axis) {
    const size_t missing = 3 - window.axes.size();
    const int64_t end = axis < missing ? 0 : window.axes[axis - missing].end;
    for (int64_t o = 0; o < s.output[axis]; ++o) {
      int64_t count = 0;
      for (int64_t k = 0; k < s.kernel[axis]; ++k) {
        const int64_t at = o * s.stride[axis] - s.begin[axis] + k * s.dilation[axis];
        count += with_padding ? at < s.input[axis] + end : at >= 0 && at < s.input[axis];
      }
      divisors[axis].push_back(static_cast<float>(count));
    }
  }
  return divisors;
}

}  // namespace tern
