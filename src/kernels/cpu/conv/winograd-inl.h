// Winograd's transforms, derived from their interpolation points, for *_simd.cc files. The points p are zero,
// pairs ±a, and infinity. M(x) is the product of (x - p) for all finite points p. Along each axis, the rows
// of the transforms are:
//   input    the coefficients of M(x) / (x - p), and of M(x) for infinity
//   weights  the powers of p, divided by the product of (p - q) for all other finite points q
//            (for infinity, only the last tap)
//   output   the powers of p; the value at infinity is added to the last result
// All transforms are computed in terms of x² and a², so that both points of a pair share work.
#pragma once
#include "kernels/cpu/conv/winograd_simd.h"
#include "kernels/cpu/pool/larger-inl.h"
#include "kernels/cpu/simd/bf16-inl.h"
#include "kernels/cpu/simd/part-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Floats = Vector<float>;
constexpr int kWide = kLanes<float>;

// The positive point of each pair, for each side of a transformed tile. These points have the smallest
// measured rounding errors (docs/reports/accuracy.md).
template <int kSide> struct Pairs;
template <> struct Pairs<4> { static constexpr double kAt[] = {1}; };
template <> struct Pairs<6> {
  static constexpr double kAt[] = {0.70710678118654752440, 1.41421356237309504880};  // √½, √2
};
template <> struct Pairs<8> { static constexpr double kAt[] = {1, 2, 0.5}; };

template <int kSide> struct Points {
  static constexpr int kPairs = kSide / 2 - 1;
  float at[kPairs] = {};
  double point[kSide - 1] = {};           // 0, a, -a, b, -b …
  float all[kPairs + 1] = {};             // coefficients of ∏ (y - a²), y = x²
  float others[kPairs][kPairs + 1] = {};  // others[j] has the coefficients of the product without pair j

  static constexpr void Multiply(double (&poly)[kPairs + 1], double square) {
    for (int k = kPairs; k >= 0; --k) poly[k] = (k > 0 ? poly[k - 1] : 0) - square * poly[k];
  }
  constexpr Points() {
    for (int j = -1; j < kPairs; ++j) {
      double poly[kPairs + 1] = {1};
      for (int i = 0; i < kPairs; ++i)
        if (i != j) Multiply(poly, Pairs<kSide>::kAt[i] * Pairs<kSide>::kAt[i]);
      for (int k = 0; k <= kPairs; ++k) (j < 0 ? all[k] : others[j][k]) = static_cast<float>(poly[k]);
    }
    for (int j = 0; j < kPairs; ++j) {
      at[j] = static_cast<float>(Pairs<kSide>::kAt[j]);
      point[1 + 2 * j] = Pairs<kSide>::kAt[j], point[2 + 2 * j] = -Pairs<kSide>::kAt[j];
    }
  }
};
template <int kSide> constexpr Points<kSide> kPoints;

constexpr float Power(float x, int n) { return n == 0 ? 1 : x * Power(x, n - 1); }

// Transforms one row or column of a tile.
template <int kSide> inline void TransformInput(const Floats (&d)[kSide], Floats (&v)[kSide]) {
  constexpr int pairs = kSide / 2 - 1;
  constexpr const Points<kSide>& p = kPoints<kSide>;
  v[0] = d[2 * pairs], v[kSide - 1] = d[2 * pairs + 1];
#pragma GCC unroll 8
  for (int k = 0; k < pairs; ++k) {
    v[0] += p.all[k] * d[2 * k];
    v[kSide - 1] += p.all[k] * d[2 * k + 1];
  }
#pragma GCC unroll 8
  for (int j = 0; j < pairs; ++j) {
    Floats even = d[2 * pairs], odd = d[2 * pairs - 1];
#pragma GCC unroll 8
    for (int k = 0; k < pairs - 1; ++k) {
      even += p.others[j][k] * d[2 * k + 2];
      odd += p.others[j][k] * d[2 * k + 1];
    }
    v[1 + 2 * j] = even + p.at[j] * odd;
    v[2 + 2 * j] = even - p.at[j] * odd;
  }
}

template <int kTile_, int kKernel_> struct Sizes {
  static constexpr int kTile = kTile_, kKernel = kKernel_, kSide = kTile + kKernel - 1;
  // Number of tiles per strip. The transformed columns of a strip take half of the L1 cache.
  static constexpr int kStrip = (16384 / 64 / kSide - (kKernel - 1)) / kTile;
};

// Transforms the columns of a strip for one vector of channels. Neighbouring tiles share columns.
template <class S, bool kFull>
inline void Columns(const WinogradInput& s, int64_t channel, int64_t lanes, Floats (*to)[S::kSide]) {
  static const float kZeros[kWide] = {};
  const float* row[S::kSide];
  int64_t step[S::kSide];
#pragma GCC unroll 8
  for (int i = 0; i < S::kSide; ++i) {
    const int64_t r = s.first_row + i;
    const bool inside = r >= 0 && r < s.height;
    step[i] = inside ? s.channels : 0;
    row[i] = inside ? s.x + r * s.width * s.channels + channel : kZeros;
  }
  const int64_t columns = s.tiles * S::kTile + S::kKernel - 1;
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t c = s.first_column + j;
    if (c < 0 || c >= s.width) {
#pragma GCC unroll 8
      for (int i = 0; i < S::kSide; ++i) to[j][i] = Floats{};
      continue;
    }
    Floats d[S::kSide], v[S::kSide];
#pragma GCC unroll 8
    for (int i = 0; i < S::kSide; ++i) {
      const float* at = row[i] + c * step[i];
      d[i] = kFull ? LoadVector(at) : LoadPart(at, lanes);
    }
    TransformInput(d, v);
#pragma GCC unroll 8
    for (int i = 0; i < S::kSide; ++i) to[j][i] = v[i];
  }
}

// Transforms the input of a strip. Store::At stores one vector of transformed channels, as f32 or bf16.
template <class S, class Store> void Input(const WinogradInput& s) {
  constexpr int side = S::kSide;
  Floats columns[S::kStrip * S::kTile + S::kKernel - 1][side];
  for (int64_t channel = s.begin; channel < s.end; channel += kWide) {
    const int64_t lanes = s.end - channel;
    if (lanes >= kWide)
      Columns<S, true>(s, channel, kWide, columns);
    else
      Columns<S, false>(s, channel, lanes, columns);
    for (int64_t t = 0; t < s.tiles; ++t) {
      float* to = s.v + t * s.tile_step;
      const Floats(*from)[side] = columns + t * S::kTile;
#pragma GCC unroll 8
      for (int i = 0; i < side; ++i) {
        Floats d[side], v[side];
#pragma GCC unroll 8
        for (int j = 0; j < side; ++j) d[j] = from[j][i];
        TransformInput(d, v);
#pragma GCC unroll 8
        for (int j = 0; j < side; ++j) Store::At(to + (i * side + j) * s.position_step, channel, v[j]);
      }
    }
  }
}

template <int kTile, int kSide> inline void TransformOutput(const Floats (&t)[kSide], Floats (&y)[kTile]) {
  constexpr int pairs = kSide / 2 - 1;
  constexpr const Points<kSide>& p = kPoints<kSide>;
  Floats sum[pairs], difference[pairs];
#pragma GCC unroll 8
  for (int j = 0; j < pairs; ++j) {
    sum[j] = t[1 + 2 * j] + t[2 + 2 * j];
    difference[j] = t[1 + 2 * j] - t[2 + 2 * j];
  }
#pragma GCC unroll 8
  for (int k = 0; k < kTile; ++k) {
    Floats v = Power(p.at[0], k) * (k % 2 ? difference[0] : sum[0]);
#pragma GCC unroll 8
    for (int j = 1; j < pairs; ++j) v += Power(p.at[j], k) * (k % 2 ? difference[j] : sum[j]);
    if (k == 0) v += t[0];
    if (k == kTile - 1) v += t[kSide - 1];
    y[k] = v;
  }
}

// Applies the output transform and the epilogue to one tile and one vector of output channels. kBf16 means
// that y and the residual may be bf16. kFull means that all lanes are output channels. kInside means that all
// results are inside the image.
template <class S, bool kBf16, bool kFull, bool kInside>
inline void OutputTile(const WinogradOutput& s, int64_t tile, int64_t map) {
  constexpr int side = S::kSide;
  const int64_t lanes = s.maps - map;
  const float* p = s.p + tile * s.tile_step + map;
  Floats half[S::kTile][side];
#pragma GCC unroll 8
  for (int j = 0; j < side; ++j) {
    Floats t[side], y[S::kTile];
#pragma GCC unroll 8
    for (int i = 0; i < side; ++i) t[i] = LoadVector(p + (i * side + j) * s.position_step);
    TransformOutput<S::kTile>(t, y);
#pragma GCC unroll 8
    for (int k = 0; k < S::kTile; ++k) half[k][j] = y[k];
  }
  const auto load = [&](const float* at) { return kFull ? LoadVector(at) : LoadPart(at, lanes); };
  const auto store = [&](int64_t at, Floats v) {
    if (kBf16 && s.bf16_y) {
      float* to = reinterpret_cast<float*>(reinterpret_cast<char*>(s.y) + 2 * at);
      if (kFull)
        StoreBf16(to, v);
      else
        StoreBf16Part(to, v, lanes);
    } else if (kFull)
      StoreVector(s.y + at, v);
    else
      StorePart(s.y + at, v, lanes);
  };
  const Floats bias = s.bias ? load(s.bias + map) : Floats{};
  const int64_t corner = tile * S::kTile * s.column_step + map;
  const int64_t columns = s.columns - tile * S::kTile;
  Floats above[S::kTile] = {};
#pragma GCC unroll 8
  for (int k = 0; k < S::kTile; ++k) {
    if (!kInside && k >= s.rows) break;
    Floats y[S::kTile];
    TransformOutput<S::kTile>(half[k], y);
#pragma GCC unroll 8
    for (int j = 0; j < S::kTile; ++j) {
      if (!kInside && j >= columns) break;
      const int64_t at = (tile * S::kTile + j) * s.residual_column_step + k * s.residual_row_step + map;
      Floats& v = y[j];
      v += bias;
      if (kBf16 && s.residual && s.bf16_residual)
        v += LoadBf16(reinterpret_cast<const char*>(s.residual) + 2 * at, kFull ? kWide : lanes);
      else if (s.residual)
        v += load(s.residual + at);
      if (s.clip) {
        v = v < s.low ? Floats{} + s.low : v;
        v = v > s.high ? Floats{} + s.high : v;
      }
      if (!s.pool) store(corner + k * s.row_step + j * s.column_step, v);
    }
    if (!s.pool) continue;
    if (k % 2 == 0) {
#pragma GCC unroll 8
      for (int j = 0; j < S::kTile; ++j) above[j] = y[j];
      continue;
    }
    const int64_t first = tile * (S::kTile / 2) * s.column_step + map;
#pragma GCC unroll 8
    for (int j = 0; j < S::kTile; j += 2) {
      if (!kInside && j + 1 >= columns) break;
      store(first + k / 2 * s.row_step + j / 2 * s.column_step,
            Larger(Larger(above[j], y[j]), Larger(above[j + 1], y[j + 1])));
    }
  }
}

template <class S, bool kBf16, bool kInside>
inline void OutputTileMaps(const WinogradOutput& s, int64_t tile) {
  int64_t map = 0;
  for (; map + kWide <= s.maps; map += kWide) OutputTile<S, kBf16, true, kInside>(s, tile, map);
  if (map < s.maps) OutputTile<S, kBf16, false, kInside>(s, tile, map);
}

template <class S, bool kBf16> void Output(const WinogradOutput& s) {
  for (int64_t t = 0; t < s.tiles; ++t)
    if (s.rows >= S::kTile && s.columns - t * S::kTile >= S::kTile)
      OutputTileMaps<S, kBf16, true>(s, t);
    else
      OutputTileMaps<S, kBf16, false>(s, t);
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
