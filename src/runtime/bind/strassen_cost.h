// When products take Strassen's scheme.
#pragma once
#include "kernels/cpu/gemm/strassen.h"

namespace tern {

// What it costs beside a plain product. Little to gain is nothing: results round more.
inline double StrassenCost(int64_t m, int64_t n, int64_t k) {
  constexpr double kLeastGain = 0.03;
  const double gain = cpu::StrassenGain(m, n, k);
  return gain >= kLeastGain ? 1 - gain : 1.01;
}

}  // namespace tern
