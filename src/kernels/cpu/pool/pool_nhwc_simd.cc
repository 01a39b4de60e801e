#include "kernels/cpu/pool/pool_nhwc_simd.h"

#include "kernels/cpu/pool/larger-inl.h"
#include "kernels/cpu/simd/part-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Floats = Vector<float>;
constexpr int kVector = kLanes<float>;

// Returns the same as Larger, with fewer instructions. Like Larger, the max instruction returns b if b is NaN
// or if both operands are 0. But it also returns b if `a` is NaN, where Larger returns `a`. Only this case
// needs extra instructions.
inline Floats LargerOf(Floats a, Floats b) {
#if defined(__AVX512F__)
  const __mmask16 number = _mm512_cmp_ps_mask(__m512(a), __m512(a), _CMP_ORD_Q);
  return Floats(_mm512_mask_max_ps(__m512(a), number, __m512(a), __m512(b)));
#elif defined(__AVX2__)
  const __m256 nan = _mm256_cmp_ps(__m256(a), __m256(a), _CMP_UNORD_Q);
  return Floats(_mm256_blendv_ps(_mm256_max_ps(__m256(a), __m256(b)), __m256(a), nan));
#else
  return Larger(a, b);
#endif
}

struct Max {
  static Floats Start() { return Floats{} - __builtin_inff(); }
  static Floats Join(Floats a, Floats b) { return LargerOf(a, b); }
  Floats Finish(Floats v) const { return v; }
};
struct Sum {
  static Floats Start() { return Floats{}; }
  static Floats Join(Floats a, Floats b) { return a + b; }
  Floats Finish(Floats v) const { return v / divisor; }
  float divisor;
};

template <int N, class Math>
inline void Vectors(const Math& math, const float* const* x, int64_t count, int64_t c, float* y) {
  Floats v[N];
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) v[j] = Math::Start();
  for (int64_t i = 0; i < count; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) v[j] = Math::Join(v[j], LoadVector(x[i] + c + j * kVector));
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) StoreVector(y + c + j * kVector, math.Finish(v[j]));
}

template <class Math>
inline void Run(const Math& math, const float* const* x, int64_t count, int64_t channels, float* y) {
  int64_t c = 0;
  for (; c + 4 * kVector <= channels; c += 4 * kVector) Vectors<4>(math, x, count, c, y);
  for (; c + kVector <= channels; c += kVector) Vectors<1>(math, x, count, c, y);
  if (c == channels) return;
  Floats v = Math::Start();
  for (int64_t i = 0; i < count; ++i) v = Math::Join(v, LoadPart(x[i] + c, channels - c));
  StorePart(y + c, math.Finish(v), channels - c);
}

void RunMax(const float* const* x, int64_t count, int64_t channels, float* y) {
  Run(Max{}, x, count, channels, y);
}
void RunSum(const float* const* x, int64_t count, int64_t channels, float divisor, float* y) {
  Run(Sum{divisor}, x, count, channels, y);
}

}  // namespace

const PoolNhwcTable kPoolNhwcSimd = {RunMax, RunSum};

}  // namespace tern::cpu::TERN_SIMD
