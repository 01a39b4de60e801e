#include "kernels/cpu/conv/winograd-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

struct Whole {
  static void At(float* to, int64_t channel, Floats v) { StoreVector(to + channel, v); }
};

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

// One tile, one vector of maps. kWhole: all its lanes; kInside: all its results are in the image.
template <class S, bool kWhole, bool kInside>
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
  const auto load = [&](const float* at) { return kWhole ? LoadVector(at) : LoadPart(at, lanes); };
  const Floats bias = s.bias ? load(s.bias + map) : Floats{};
  const int64_t corner = tile * S::kTile * s.column_step + map;
  const int64_t columns = s.columns - tile * S::kTile;
#pragma GCC unroll 8
  for (int k = 0; k < S::kTile; ++k) {
    if (!kInside && k >= s.rows) break;
    Floats y[S::kTile];
    TransformOutput<S::kTile>(half[k], y);
#pragma GCC unroll 8
    for (int j = 0; j < S::kTile; ++j) {
      if (!kInside && j >= columns) break;
      const int64_t at = corner + k * s.row_step + j * s.column_step;
      Floats v = y[j] + bias;
      if (s.residual) v += load(s.residual + at);
      if (s.clip) {
        v = v < s.low ? Floats{} + s.low : v;
        v = v > s.high ? Floats{} + s.high : v;
      }
      if (kWhole)
        StoreVector(s.y + at, v);
      else
        StorePart(s.y + at, v, lanes);
    }
  }
}

template <class S, bool kInside> inline void OutputTileMaps(const WinogradOutput& s, int64_t tile) {
  int64_t map = 0;
  for (; map + kWide <= s.maps; map += kWide) OutputTile<S, true, kInside>(s, tile, map);
  if (map < s.maps) OutputTile<S, false, kInside>(s, tile, map);
}

template <class S> void Output(const WinogradOutput& s) {
  for (int64_t t = 0; t < s.tiles; ++t)
    if (s.rows >= S::kTile && s.columns - t * S::kTile >= S::kTile)
      OutputTileMaps<S, true>(s, t);
    else
      OutputTileMaps<S, false>(s, t);
}

// In double: the rounding of U is then all that the weights add to the error.
template <class S> struct WeightMatrix {
  double at[S::kSide][S::kKernel] = {};
  constexpr WeightMatrix() {
    for (int i = 0; i < S::kSide - 1; ++i) {
      const double p = kPoints<S::kSide>.point[i];
      double value = 1;
      for (int j = 0; j < S::kSide - 1; ++j)
        if (j != i) value /= p - kPoints<S::kSide>.point[j];
      for (int k = 0; k < S::kKernel; ++k, value *= p) at[i][k] = value;
    }
    at[S::kSide - 1][S::kKernel - 1] = 1;
  }
};

template <class S> void Weights(const WinogradWeights& s) {
  constexpr int side = S::kSide, r = S::kKernel;
  constexpr int kMaps = 16;
  static constexpr WeightMatrix<S> g;
  for (int64_t first = 0; first < s.width; first += kMaps)
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t here = Least<int64_t>(kMaps, s.width - first);
      double w[r][r][kMaps] = {}, half[side][r][kMaps] = {};
      for (int64_t m = 0; m < here && first + m < s.maps; ++m)
        for (int i = 0; i < r * r; ++i) w[i / r][i % r][m] = s.w[((first + m) * s.channels + c) * r * r + i];
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < r; ++j)
          for (int k = 0; k < r; ++k)
            for (int m = 0; m < kMaps; ++m) half[i][j][m] += g.at[i][k] * w[k][j][m];
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
          double u[kMaps] = {};
          for (int k = 0; k < r; ++k)
            for (int m = 0; m < kMaps; ++m) u[m] += g.at[j][k] * half[i][k][m];
          float* to = s.u + (i * side + j) * s.position_step + c * s.width + first;
          for (int64_t m = 0; m < here; ++m) to[m] = static_cast<float>(u[m]);
        }
    }
}

template <int kTile, int kKernel> constexpr WinogradTable::Unit UnitOf() {
  using S = Sizes<kTile, kKernel>;
  return {kKernel, kTile, S::kStrip, Input<S, Whole>, Output<S>, Weights<S>};
}

}  // namespace

const WinogradTable kWinogradSimd = {
    {UnitOf<2, 3>(), UnitOf<4, 3>(), UnitOf<6, 3>(), UnitOf<2, 5>(), UnitOf<4, 5>()}};

}  // namespace tern::cpu::TERN_SIMD
