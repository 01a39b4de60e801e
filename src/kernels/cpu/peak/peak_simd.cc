#include "kernels/cpu/peak/peak_simd.h"

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using F = Vector<float>;
// The number of independent chains. A core has at most latency * ports multiply-adds in flight, and kChains
// is larger than that. The chains, factor and term fit into 16 registers.
constexpr int kChains = 12;

float Chains(int64_t rounds, float factor, float term) {
  F sum[kChains];
  for (int k = 0; k < kChains; ++k) sum[k] = F{} + static_cast<float>(k);
  const F f = F{} + factor, t = F{} + term;
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) sum[k] = sum[k] * f + t;
  F total = sum[0];
  for (int k = 1; k < kChains; ++k) total += sum[k];
  return total[0];
}

}  // namespace

const PeakTable kPeak{Chains, int64_t{2} * kChains* kLanes<float>};

}  // namespace tern::cpu::TERN_SIMD
