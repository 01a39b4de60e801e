#include "kernels/cpu/pool/pool_nhwc_simd.h"

#include "kernels/cpu/pool/larger-inl.h"
#include "kernels/cpu/simd/part-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Floats = Vector<float>;
constexpr int kVector = kLanes<float>;

struct Max {
  static Floats Start() { return Floats{} - __builtin_inff(); }
  static Floats Join(Floats a, Floats b) { return Larger(a, b); }
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
