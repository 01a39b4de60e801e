// This file is compiled with -ffp-contract=off, so that every float operation is rounded.
#include "kernels/cpu/byte/byte_depthwise_vnni_simd.h"

#include "kernels/cpu/byte/byte_epilogue-inl.h"
#include "kernels/cpu/byte/lanes-inl.h"
#include "kernels/cpu/gemm/row_pointers-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Output pixels that are computed together.
#if defined(__AVX512VNNI__)
constexpr int kPixels = 3, kAnyPixels = 2;
#else
constexpr int kPixels = 1, kAnyPixels = 1;
#endif

// One block of channels of a call.
struct Block {
  int64_t channel;
  const int8_t* w;
  const int32_t* bias;
  const float* scale;
};

// Keeps the compiler from loading the weights of a block before the loop over pixels. They do not fit into
// the registers.
inline void Settle(Block& b) { Hide(b.w), Hide(b.bias), Hide(b.scale); }

template <int W> struct Pixels {
  using L = Lanes<W>;
  using Bytes = typename L::Bytes;
  using Ints = typename L::Ints;

  const ByteDepthwisePart& p;
  const typename L::Range to;
  explicit Pixels(const ByteDepthwisePart& part) : p(part), to(part.to) {}

  // Calls f<t>(block, pixel) for all blocks and pixels, for t pixels at once: T, or fewer at the end of a
  // row.
  template <int T, class F> void Each(const F& f) const {
    Block b{p.channel, p.w, p.bias, p.scale};
    for (int64_t i = 0; i < p.blocks; ++i) {
      int64_t pixel = 0;
      for (; pixel + T <= p.pixels; pixel += T) {
        Settle(b);
        f.template operator()<T>(b, pixel);
      }
      if constexpr (T > 2)
        if (pixel + 2 <= p.pixels) f.template operator()<2>(b, pixel), pixel += 2;
      if constexpr (T > 1)
        if (pixel < p.pixels) f.template operator()<1>(b, pixel);
      b.channel += W, b.w += p.block_bytes, b.bias += W, b.scale += W;
    }
  }

  // Loads a quad: rows 4 * q to 4 * q + 3 of column j, and interleaves them.
  template <int kRows> void LoadQuad(const Block& b, int q, int64_t j, Bytes (&quad)[4]) const {
    Bytes x[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int row = 4 * q + i;
      x[i] = row < kRows ? L::Load(p.x[row * p.x_row + j] + b.channel) : Bytes{};
    }
    L::Interleave(x, quad);
  }

  Ints Bias(const Block& b, int v) const { return L::LoadInts(b.bias + v * (W / 4)); }
  auto Rounded(const Block& b, int v, Ints sum) const {
    return L::Rounded(L::ToFloats(sum) * L::LoadFloats(b.scale + v * (W / 4)));
  }
  uint8_t* Y(const Block& b, int row, int64_t pixel) const {
    return static_cast<uint8_t*>(p.y) + row * p.y_row + pixel * p.y_pixel + b.channel;
  }

  // Finishes the sums of a pixel, which are in the order of channels.
  [[gnu::noinline]] void FinishSums(const Block& b, const int32_t* sums, int row, int64_t pixel) const {
    const ByteEpilogue& e = *p.epilogue;
    const int64_t width = e.output == ByteOutput::kBytes ? 1 : 4;
    const auto* residual = static_cast<const char*>(p.residual);
    if (residual) residual += (row * p.residual_image_row + pixel * e.residual_row + b.channel) * width;
    char* y = static_cast<char*>(p.y) + (row * p.y_row + pixel * p.y_pixel + b.channel) * width;
    FinishRow(e, {b.channel, residual, y}, sums, W);
  }

  template <bool kRounds> void Finish(const Block& b, const Ints (&sum)[4], int row, int64_t pixel) const {
    if constexpr (kRounds) {
      const auto low = L::Both(Rounded(b, 0, sum[0]), Rounded(b, 1, sum[1])),
                 high = L::Both(Rounded(b, 2, sum[2]), Rounded(b, 3, sum[3]));
      L::Store(Y(b, row, pixel), L::SaturatedBytes(low, high, to));
    } else {
      int32_t sums[W];
      for (int v = 0; v < 4; ++v) L::StoreSums(sum[v], v, sums);
      FinishSums(b, sums, row, pixel);
    }
  }

  // Computes R rows of T windows with kernel K and stride S. Each quad of a column is used by all windows
  // that contain the column.
  template <int K, int S, int R, int T, bool kRounds> void Quads(const Block& b, int64_t pixel) const {
    constexpr int kColumns = (T - 1) * S + K, kRows = (R - 1) * S + K, kQuads = (kRows + 3) / 4;
    Ints sum[R][T][4];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int t = 0; t < T; ++t)
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) sum[r][t][v] = Bias(b, v);
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 2
      for (int q = 0; q < kQuads; ++q) {
        Bytes quad[4];
        LoadQuad<kRows>(b, q, pixel * S + j, quad);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
          for (int t = 0; t < T; ++t) {
            const int kx = j - t * S;
            const bool reads = r * S < 4 * (q + 1) && r * S + K > 4 * q;  // row r reads rows of this quad
            if (kx < 0 || kx >= K || !reads) continue;
#pragma GCC unroll 4
            for (int v = 0; v < 4; ++v)
              L::AddDot(sum[r][t][v], quad[v], b.w + (((r * K + kx) * kQuads + q) * 4 + v) * W);
          }
      }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int t = 0; t < T; ++t) Finish<kRounds>(b, sum[r][t], r, pixel + t);
  }

  template <int T, bool kRounds> void Taps(const Block& b, int64_t pixel) const {
    Ints sum[T][4];
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) sum[t][v] = Bias(b, v);
    for (int64_t group = 0; group < p.groups; ++group)
#pragma GCC unroll 4
      for (int t = 0; t < T; ++t) {
        Bytes x[4], quad[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) x[i] = L::Load(p.x[((pixel + t) * p.groups + group) * 4 + i] + b.channel);
        L::Interleave(x, quad);
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) L::AddDot(sum[t][v], quad[v], b.w + (group * 4 + v) * W);
      }
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) Finish<kRounds>(b, sum[t], 0, pixel + t);
  }
};

template <int W, int K, int S, int R, bool kRounds> void WindowRows(const ByteDepthwisePart& p) {
  const Pixels<W> pixels(p);
  const auto run = [&]<int T>(const Block& b, int64_t pixel) {
    pixels.template Quads<K, S, R, T, kRounds>(b, pixel);
  };
  pixels.template Each<kRounds ? kPixels : 1>(run);
}

template <int W, int K, int S, int R> void Windows(const ByteDepthwisePart& p) {
  if (p.rounds)
    WindowRows<W, K, S, R, true>(p);
  else
    WindowRows<W, K, S, R, false>(p);
}

template <int W, bool kRounds> void AnyRow(const ByteDepthwisePart& p) {
  const Pixels<W> pixels(p);
  pixels.template Each<kRounds ? kAnyPixels : 1>(
      [&]<int T>(const Block& b, int64_t pixel) { pixels.template Taps<T, kRounds>(b, pixel); });
}

template <int W> void Any(const ByteDepthwisePart& p) {
  if (p.rounds)
    AnyRow<W, true>(p);
  else
    AnyRow<W, false>(p);
}

// R is the maximum number of output rows of a call.
template <int I, int K, int S, int R> constexpr void FillWidths(ByteDepthwiseTable::Kind& kind) {
  kind.run[I][R] = Windows<(16 << I), K, S, R>;
  if constexpr (R > 1) kind.run[I][1] = Windows<(16 << I), K, S, 1>;
  if constexpr (I > 0) FillWidths<I - 1, K, S, R>(kind);
}

constexpr int kWidest = kVectorBytes == 64 ? 2 : kVectorBytes == 32 ? 1 : 0;

template <int K, int S, int R> constexpr ByteDepthwiseTable::Kind KindOf() {
  ByteDepthwiseTable::Kind kind{K, S, R, ((R - 1) * S + K + 3) / 4, {}};
  FillWidths<kWidest, K, S, R>(kind);
  return kind;
}

template <int I = kWidest> constexpr void FillAny(ByteDepthwiseTable& table) {
  table.any[I] = Any<(16 << I)>;
  if constexpr (I > 0) FillAny<I - 1>(table);
}

constexpr ByteDepthwiseTable TableOf() {
  ByteDepthwiseTable table{kVectorBytes, {KindOf<3, 1, 2>(), KindOf<3, 2, 1>(), KindOf<5, 1, 2>()}, {}};
  FillAny(table);
  return table;
}

}  // namespace

const ByteDepthwiseTable kByteDepthwiseSimdPlain = TableOf();

}  // namespace tern::cpu::TERN_SIMD
