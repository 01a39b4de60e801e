#include "kernels/cpu/peak/peak_vnni_simd.h"

#include "kernels/cpu/byte/dot-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kChains = 12;  // as in peak_simd.cc

int32_t Chains(int64_t rounds, uint32_t pixels, int32_t weights) {
  int32_t all[kLanes<int32_t>];
  StoreVector(all, Ints{} + weights);
  const Weights w = LoadWeights(reinterpret_cast<const int8_t*>(all));
  const Pixels x = SpreadPixels(pixels);
  Ints sum[kChains];
  for (int k = 0; k < kChains; ++k) sum[k] = Ints{} + k;  // equal chains would be computed once
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) AddDot(sum[k], x, w);
  Ints total = sum[0];
  for (int k = 1; k < kChains; ++k) total += sum[k];
  return total[0];
}

}  // namespace

const BytePeakTable kBytePeakPlain = {Chains, 2 * (4 / kElementBytes) * kLanes<int32_t>* kChains};

}  // namespace tern::cpu::TERN_SIMD
