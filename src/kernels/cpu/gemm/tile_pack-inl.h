// Panels of floats, for *_simd.cc files.
#pragma once
#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Columns lie along memory: rows are read in vectors.
void PackAlong(const float* b, int64_t row, int64_t k, int64_t columns, float factor, float* to) {
  constexpr int lanes = kLanes<float>;
  for (int64_t i = 0; i < k; ++i, b += row, to += kWidth)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t left = columns - j * lanes;
      const Floats v = left >= lanes ? LoadVector(b + j * lanes)
                       : left > 0    ? LoadPart(b + j * lanes, left)
                                     : Floats{};
      StoreVector(to + j * lanes, factor * v);
    }
}

// Columns lie one behind the other: squares are transposed over in registers.
void PackTransposed(const float* b, int64_t column, int64_t k, int64_t columns, float factor, float* to) {
  constexpr int64_t lanes = kLanes<float>;
  for (int64_t i = 0; i < k; i += lanes)
    for (int64_t c = 0; c < kWidth; c += lanes) {
      const int64_t depth = Least(lanes, k - i), there = Greatest<int64_t>(0, Least(lanes, columns - c));
      float* block = to + i * kWidth + c;
      TransposeBlock(b + i + c * column, column, there, depth, block, kWidth,
                     [factor](Floats v) { return factor * v; });
      if (there == lanes) continue;
      for (int64_t r = 0; r < depth; ++r)
        for (int64_t e = there; e < lanes; ++e) block[r * kWidth + e] = 0;
    }
}

// Any steps; blocks of rows, so that each line of b is read once.
void PackAcross(const float* b, int64_t row, int64_t column, int64_t k, int64_t columns, float factor,
                float* to) {
  constexpr int64_t kAtOnce = 16;
  for (int64_t i = 0; i < k; i += kAtOnce) {
    const int64_t rows = Least(kAtOnce, k - i);
    for (int64_t c = 0; c < kWidth; ++c)
      for (int64_t r = 0; r < rows; ++r)
        to[(i + r) * kWidth + c] = c < columns ? factor * b[(i + r) * row + c * column] : 0.0f;
  }
}

// One panel: [k][kWidth].
void PackPanel(const float* b, int64_t row, int64_t column, int64_t k, int64_t columns, float factor,
               float* to) {
  if (column == 1)
    PackAlong(b, row, k, columns, factor, to);
  else if (row == 1)
    PackTransposed(b, column, k, columns, factor, to);
  else
    PackAcross(b, row, column, k, columns, factor, to);
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
