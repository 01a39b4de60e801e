#include "kernels/cpu/ml/svm_simd.h"

#include "kernels/cpu/simd/sum-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kWide = kLanes<float>;
constexpr int kColumns = 2;  // SIMD vectors per row of a tile

inline Floats Power(Floats x, int power) {
  Floats y = power & 1 ? x : All(1.f);
  for (int bits = power >> 1; bits; bits >>= 1) {
    x *= x;
    if (bits & 1) y *= x;
  }
  return y;
}

inline Floats Finish(const SvmPanels& p, Floats sum) {
  switch (p.function) {
    case SvmFunction::kLinear:
      return sum;
    case SvmFunction::kPoly:
      return Power(sum * p.gamma + p.coef0, p.power);
    case SvmFunction::kRbf:
      return Exp(sum * -p.gamma);
    case SvmFunction::kSigmoid:
      return Tanh(sum * p.gamma + p.coef0);
    case SvmFunction::kAffine:
      break;
  }
  return sum * p.gamma + p.coef0;
}

// Compares R rows of x with kColumns * kWide support vectors of a panel. Accumulators are in registers.
template <int R, bool kDistance>
inline void Tile(const SvmPanels& p, const float* panel, const float* x, float* y, int64_t y_row) {
  Floats sum[R][kColumns] = {};
  for (int64_t i = 0; i < p.width; ++i, panel += kSvmPanel) {
    Floats v[kColumns];
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) v[c] = LoadVector(panel + c * kWide);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const Floats a = All(x[r * p.width + i]);
#pragma GCC unroll 2
      for (int c = 0; c < kColumns; ++c) {
        const Floats d = kDistance ? a - v[c] : a;
        sum[r][c] += d * (kDistance ? d : v[c]);
      }
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < kColumns; ++c) StoreVector(y + r * y_row + c * kWide, Finish(p, sum[r][c]));
}

template <bool kDistance> void Panels(const SvmPanels& p, const float* x, int64_t rows, float* y) {
  const int64_t y_row = p.count * kSvmPanel;
  for (int64_t at = 0; at < y_row; at += kColumns * kWide) {
    const float* panel = p.panels + at / kSvmPanel * kSvmPanel * p.width + at % kSvmPanel;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) Tile<4, kDistance>(p, panel, x + r * p.width, y + r * y_row + at, y_row);
    for (; r < rows; ++r) Tile<1, kDistance>(p, panel, x + r * p.width, y + r * y_row + at, y_row);
  }
}

void Similarity(const SvmPanels& p, const float* x, int64_t rows, float* y) {
  if (p.function == SvmFunction::kRbf)
    Panels<true>(p, x, rows, y);
  else
    Panels<false>(p, x, rows, y);
}

float Dot(const float* a, const float* b, int64_t n) {
  Floats sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kWide <= n; i += 4 * kWide)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sums[k] += LoadVector(a + i + k * kWide) * LoadVector(b + i + k * kWide);
  for (; i + kWide <= n; i += kWide) sums[0] += LoadVector(a + i) * LoadVector(b + i);
  if (i < n) sums[1] += LoadPart(a + i, n - i) * LoadPart(b + i, n - i);
  return SumAcross((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

}  // namespace

const SvmTable kSvmSimd = {Similarity, Dot};

}  // namespace tern::cpu::TERN_SIMD
