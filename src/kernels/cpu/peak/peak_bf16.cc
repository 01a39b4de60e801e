#include "kernels/cpu/peak/peak_bf16.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace tern::cpu {

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) float Bf16Chains(int64_t rounds,
                                                                                 float factor) {
  constexpr int kChains = 12;
  __m512 sum[kChains];
  for (__m512& s : sum) s = _mm512_setzero_ps();
  const __m512bh f = _mm512_cvtne2ps_pbh(_mm512_set1_ps(factor), _mm512_set1_ps(factor));
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) sum[k] = _mm512_dpbf16_ps(sum[k], f, f);
  __m512 total = sum[0];
  for (int k = 1; k < kChains; ++k) total = _mm512_add_ps(total, sum[k]);
  return _mm512_cvtss_f32(total);
}

}  // namespace tern::cpu

#else

namespace tern::cpu {

float Bf16Chains(int64_t, float) { return 0; }

}  // namespace tern::cpu

#endif
