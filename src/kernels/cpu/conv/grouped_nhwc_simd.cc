#include "kernels/cpu/conv/grouped_nhwc_simd.h"

#include "kernels/cpu/simd/part-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kVector = kLanes<float>;
// Output pixels per call, so that the accumulators, one row of pixels and one weight fit into the registers.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kPixels[2] = {7, 7};
#else
constexpr int kPixels[2] = {6, 5};
#endif

// Lane l of the result is lane i of the group of l. Groups have kGroup lanes.
template <int kGroup, int kAt> inline Floats Spread(Floats v) {
  constexpr auto from = [](int lane) { return lane / kGroup * kGroup + kAt; };
#if defined(__AVX512F__)
  return __builtin_shufflevector(v, v, from(0), from(1), from(2), from(3), from(4), from(5), from(6), from(7),
                                 from(8), from(9), from(10), from(11), from(12), from(13), from(14),
                                 from(15));
#elif defined(__AVX2__)
  return __builtin_shufflevector(v, v, from(0), from(1), from(2), from(3), from(4), from(5), from(6),
                                 from(7));
#else
  return __builtin_shufflevector(v, v, from(0), from(1), from(2), from(3));
#endif
}

// Forces the compiler to compute v here, so that it does not keep pixels of several channels in registers.
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

// Adds the products of channels kAt, kAt + 1, … of each group, for one row of the kernel.
template <int kGroup, int kStride, int kTile, int kAt>
inline void AddChannels(const float* x, const float* w, Floats (&sum)[kTile]) {
  constexpr int columns = (kTile - 1) * kStride + 3;
  Floats pixel[columns];
#pragma GCC unroll 32
  for (int j = 0; j < columns; ++j) pixel[j] = Spread<kGroup, kAt>(LoadVector(x + j * kVector));
#pragma GCC unroll 4
  for (int k = 0; k < 3; ++k) {
    const Floats weight = LoadVector(w + (kAt * 3 + k) * kVector);
#pragma GCC unroll 16
    for (int t = 0; t < kTile; ++t) sum[t] += pixel[t * kStride + k] * weight;
  }
#pragma GCC unroll 16
  for (int t = 0; t < kTile; ++t) Settle(sum[t]);
  if constexpr (kAt + 1 < kGroup) AddChannels<kGroup, kStride, kTile, kAt + 1>(x, w, sum);
}

template <int kGroup, int kStride, int kTile> void Run(const GroupedTile& p) {
  const bool full = p.channels == kVector;
  const auto load = [&](const float* from) { return full ? LoadVector(from) : LoadPart(from, p.channels); };
  Floats sum[kTile];
  const Floats bias = p.bias ? load(p.bias) : Floats{};
#pragma GCC unroll 16
  for (int t = 0; t < kTile; ++t) sum[t] = bias;
  const float *x = p.x, *w = p.w;
  for (int64_t row = 0; row < p.rows; ++row, x += p.x_row, w += kGroup * 3 * kVector)
    AddChannels<kGroup, kStride, kTile, 0>(x, w, sum);
#pragma GCC unroll 16
  for (int t = 0; t < kTile; ++t) {
    if (p.residual) sum[t] += load(p.residual + t * p.y_pixel);
    if (p.clip) sum[t] = AtMost(AtLeast(sum[t], p.low), p.high);
    if (full)
      StoreVector(p.y + t * p.y_pixel, sum[t]);
    else
      StorePart(p.y + t * p.y_pixel, sum[t], p.channels);
  }
}

void CopyPixels(const float* x, int64_t x_pixel, int64_t n, int64_t channels, float* to) {
  if (channels == kVector)
    for (int64_t i = 0; i < n; ++i) StoreVector(to + i * kVector, LoadVector(x + i * x_pixel));
  else
    for (int64_t i = 0; i < n; ++i) StoreVector(to + i * kVector, LoadPart(x + i * x_pixel, channels));
}

template <int kGroup, int kStride> constexpr void Fill(GroupedNhwcTable& table, int size) {
  if constexpr (kGroup <= kVector) {
    constexpr int most = kPixels[kStride - 1];
    table.sizes[size] = kGroup;
    auto& run = table.run[size][kStride - 1];
    run[0] = Run<kGroup, kStride, most>, run[1] = Run<kGroup, kStride, 4>;
    run[2] = Run<kGroup, kStride, 2>, run[3] = Run<kGroup, kStride, 1>;
  }
}

constexpr GroupedNhwcTable Make() {
  GroupedNhwcTable table{kVector, {{kPixels[0], 4, 2, 1}, {kPixels[1], 4, 2, 1}}, {}, {}, CopyPixels};
  Fill<4, 1>(table, 0), Fill<4, 2>(table, 0);
  Fill<8, 1>(table, 1), Fill<8, 2>(table, 1);
  return table;
}

}  // namespace

const GroupedNhwcTable kGroupedNhwcSimd = Make();

}  // namespace tern::cpu::TERN_SIMD
