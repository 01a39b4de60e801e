// When products take Strassen's scheme.
#pragma once
#include "kernels/cpu/gemm/strassen.h"

namespace tern {

// What it costs beside a plain product. Little to gain is nothing: results round more. Sums of weights are
// kept, which takes 3/4 of their memory again, only while weights are not much larger than what is computed
// with them.
inline double StrassenCost(int64_t m, int64_t n, int64_t k,
                           cpu::StrassenPanels panels = cpu::StrassenPanels::kSummed) {
  constexpr double kLeastGain = 0.04, kMostWeights = 1.8;
  const double gain = cpu::StrassenGain(m, n, k, panels);
  const double weights = static_cast<double>(n) * static_cast<double>(k),
               values = static_cast<double>(m) * static_cast<double>(n + k);
  const bool small = panels == cpu::StrassenPanels::kPlain || weights <= kMostWeights * values;
  return gain >= kLeastGain && small ? 1 - gain : 1.01;
}

}  // namespace tern
