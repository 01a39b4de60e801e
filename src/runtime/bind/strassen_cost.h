// Estimates the cost of Strassen's algorithm.
#pragma once
#include "kernels/cpu/gemm/strassen.h"

namespace tern {

// Returns the cost of the product [m, k] x [k, n] relative to the cost of a plain product. A gain below
// kMinGain counts as a loss, because it does not justify the larger rounding errors of Strassen's algorithm.
inline double StrassenCost(int64_t m, int64_t n, int64_t k) {
  constexpr double kMinGain = 0.03;
  const double gain = cpu::StrassenGain(m, n, k);
  return gain >= kMinGain ? 1 - gain : 1.01;
}

}  // namespace tern
