// When products take Strassen's scheme.
#pragma once
#include "kernels/cpu/gemm/strassen.h"

namespace tern {

// What it costs beside a plain product. Little to gain is nothing: results round more. Nor are large weights
// for few rows worth it, as they take 7/4 of their memory: they may be so much larger than what is computed
// from them.
inline double StrassenCost(int64_t m, int64_t n, int64_t k) {
  constexpr double kLeastGain = 0.04, kMostWeights = 1.8;
  const double gain = cpu::StrassenGain(m, n, k);
  const double weights = static_cast<double>(n) * static_cast<double>(k),
               values = static_cast<double>(m) * static_cast<double>(n + k);
  return gain >= kLeastGain && weights <= kMostWeights * values ? 1 - gain : 1.01;
}

}  // namespace tern
