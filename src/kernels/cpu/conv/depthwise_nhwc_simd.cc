#include "kernels/cpu/conv/depthwise_nhwc_simd.h"

#include "kernels/cpu/simd/part-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// RowsOf and PixelsOf return the maximum output rows and pixels per call. These numbers are chosen so that
// the accumulators, one row of pixels and one weight fit into the registers.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr bool kManyRegisters = true;
#else
constexpr bool kManyRegisters = false;
#endif
constexpr int RowsOf(int kernel, int stride) { return kManyRegisters && kernel == 5 && stride == 2 ? 1 : 2; }
constexpr int PixelsOf(int kernel, int stride) {
  return kManyRegisters ? 7 : kernel == 3 && stride == 1 ? 4 : 3;
}
constexpr int kVector = kLanes<float>;

using Floats = Vector<float>;

// Forces the compiler to compute v here. Otherwise the compiler would compute the sums only when they are
// stored. Until then, the pixels of all lines would occupy more registers than the CPU has.
inline void Settle(Floats& v) {
#if defined(__AVX512F__)
  asm volatile("" : "+v"(v));
#elif defined(__x86_64__)
  asm volatile("" : "+x"(v));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(v));
#else
  (void)v;
#endif
}

inline Floats Clip(const DepthwisePart& p, Floats v) { return AtMost(AtLeast(v, p.low), p.high); }

// Adds one line of each window: sum[t] += x[t * S + kx] * w[kx] for all kx in [0, K).
template <int K, int S, int T, int C>
inline void AddLine(const Floats (&x)[C], const float* w, Floats (&sum)[T]) {
#pragma GCC unroll 8
  for (int kx = 0; kx < K; ++kx) {
    const Floats weight = LoadVector(w + kx * kVector);
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) sum[t] += x[t * S + kx] * weight;
  }
}

// Computes R rows of T windows with kernel K and stride S. kPart means that there are fewer channels than
// lanes.
template <int K, int S, int R, int T, bool kPart> void Windows(const DepthwisePart& p) {
  constexpr int kColumns = (T - 1) * S + K, kLines = (R - 1) * S + K;
  const auto load = [&](const float* from) { return kPart ? LoadPart(from, p.channels) : LoadVector(from); };
  const float* w = p.w + p.block0 * K * K * kVector;
  for (int64_t block = p.block0; block < p.block1; ++block, w += K * K * kVector) {
    const int64_t c = kPart ? 0 : MinOf<int64_t>(block * kVector, p.channels - kVector);
    Floats sum[R][T];
    const Floats bias = p.bias ? load(p.bias + c) : Floats{};
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t) sum[r][t] = bias;
    const float* const* from = p.x;
#pragma GCC unroll 16
    for (int line = 0; line < kLines; ++line, from += p.x_row) {
      Floats x[kColumns];
#pragma GCC unroll 32
      for (int j = 0; j < kColumns; ++j) x[j] = load(from[j] + c);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const int ky = line - r * S;
        if (ky < 0 || ky >= K) continue;
        AddLine<K, S>(x, w + ky * K * kVector, sum[r]);
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) Settle(sum[r][t]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t) {
        const int64_t at = r * p.y_row + t * p.y_pixel + c;
        if (p.residual) sum[r][t] += load(p.residual + at);
        if (p.clip) sum[r][t] = Clip(p, sum[r][t]);
        if (kPart)
          StorePart(p.y + at, sum[r][t], p.channels);
        else
          StoreVector(p.y + at, sum[r][t]);
      }
  }
}

template <int T, bool kPart> void AnyBlock(const DepthwisePart& p, int64_t block) {
  const int64_t c = kPart ? 0 : MinOf<int64_t>(block * kVector, p.channels - kVector);
  const auto load = [&](const float* from) {
    return kPart ? LoadPart(from, p.channels) : LoadVector(from + c);
  };
  Floats sum[T];
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) sum[t] = p.bias ? load(p.bias) : Floats{};
  const float* w = p.w + block * p.taps * kVector;
  for (int64_t tap = 0; tap < p.taps; ++tap, w += kVector) {
    const Floats weight = LoadVector(w);
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) sum[t] += load(p.x[t * p.taps + tap]) * weight;
  }
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) {
    float* to = p.y + t * p.y_pixel + c;
    if (p.residual) sum[t] += load(p.residual + t * p.y_pixel);
    if (p.clip) sum[t] = Clip(p, sum[t]);
    if (kPart)
      StorePart(to, sum[t], p.channels);
    else
      StoreVector(to, sum[t]);
  }
}

template <int T> void Any(const DepthwisePart& p) {
  if (p.channels < kVector) return AnyBlock<T, true>(p, 0);
  for (int64_t block = p.block0; block < p.block1; ++block) AnyBlock<T, false>(p, block);
}

template <int K, int S, int R, int T> constexpr void FillPixels(DepthwiseNhwcTable::Kind& kind) {
  kind.run[R][T] = Windows<K, S, R, T, false>;
  if constexpr (R == 1) kind.part[T] = Windows<K, S, 1, T, true>;
  if constexpr (T > 1) FillPixels<K, S, R, T - 1>(kind);
}

template <int K, int S, int R = RowsOf(K, S), int T = PixelsOf(K, S)>
constexpr DepthwiseNhwcTable::Kind KindOf() {
  DepthwiseNhwcTable::Kind kind{K, S, R, T, {}, {}};
  FillPixels<K, S, R, T>(kind);
  if constexpr (R > 1) FillPixels<K, S, 1, T>(kind);
  return kind;
}

}  // namespace

const DepthwiseNhwcTable kDepthwiseNhwcSimd = {
    kVector,
    {KindOf<3, 1>(), KindOf<3, 2>(), KindOf<5, 1>(), KindOf<5, 2>(), KindOf<7, 1>()},
    {nullptr, Any<1>, Any<2>, Any<3>, Any<4>}};

}  // namespace tern::cpu::TERN_SIMD
