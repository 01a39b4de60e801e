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

// Reads four streams of memory, because a core reads several streams faster than one.
int64_t Sum(const int64_t* from, int64_t count) {
  using I = Vector<int64_t>;
  constexpr int kStreams = 4, kVectors = 4;
  constexpr int64_t kStep = kVectors * kLanes<int64_t>;
  const int64_t length = count / kStreams / kStep * kStep;
  I sum[kStreams][kVectors] = {};
  for (int64_t i = 0; i < length; i += kStep)
#pragma GCC unroll 4
    for (int s = 0; s < kStreams; ++s)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[s][j] += LoadVector(from + s * length + i + j * kLanes<int64_t>);
  I total{};
  for (const auto& stream : sum)
    for (const I& part : stream) total += part;
  int64_t result = 0;
  for (int64_t i = 0; i < kLanes<int64_t>; ++i) result += total[i];
  for (int64_t i = kStreams * length; i < count; ++i) result += from[i];
  return result;
}

}  // namespace

const PeakTable kPeak{Chains, int64_t{2} * kChains* kLanes<float>, Sum};

}  // namespace tern::cpu::TERN_SIMD
