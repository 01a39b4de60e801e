#include "kernels/cpu/conv/winograd-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

struct StoreAsF32 {
  static void At(float* to, int64_t channel, Floats v) { StoreVector(to + channel, v); }
};

// The weight transform is computed in double, so that the final rounding to f32 is the only error of the
// transformed weights.
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
      const int64_t map_count = MinOf<int64_t>(kMaps, s.width - first);
      double w[r][r][kMaps] = {}, half[side][r][kMaps] = {};
      for (int64_t m = 0; m < map_count && first + m < s.maps; ++m)
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
          for (int64_t m = 0; m < map_count; ++m) to[m] = static_cast<float>(u[m]);
        }
    }
}

template <int kTile, int kKernel> constexpr WinogradTable::Unit UnitOf() {
  using S = Sizes<kTile, kKernel>;
  return {kKernel, kTile, S::kStrip, Input<S, StoreAsF32>, Output<S, false>, Weights<S>};
}

}  // namespace

const WinogradTable kWinogradSimd = {
    {UnitOf<2, 3>(), UnitOf<4, 3>(), UnitOf<6, 3>(), UnitOf<2, 5>(), UnitOf<4, 5>()}};

}  // namespace tern::cpu::TERN_SIMD
