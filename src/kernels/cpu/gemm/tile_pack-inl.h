// Packs f32 panels, for *_simd.cc files.
#pragma once
#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// b must be row-major. Rows are read as vectors.
void PackRowMajor(const float* b, int64_t row, int64_t k, int64_t columns, float factor, float* to) {
  constexpr int lanes = kLanes<float>;
  for (int64_t i = 0; i < k; ++i, b += row, to += kWidth)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t remaining = columns - j * lanes;
      const Floats v = remaining >= lanes ? LoadVector(b + j * lanes)
                       : remaining > 0    ? LoadPart(b + j * lanes, remaining)
                                          : Floats{};
      StoreVector(to + j * lanes, factor * v);
    }
}

// b must be column-major. Square blocks are transposed in registers.
void PackColumnMajor(const float* b, int64_t column, int64_t k, int64_t columns, float factor, float* to) {
  constexpr int64_t lanes = kLanes<float>;
  for (int64_t i = 0; i < k; i += lanes)
    for (int64_t c = 0; c < kWidth; c += lanes) {
      const int64_t depth = MinOf(lanes, k - i), block_columns = MaxOf<int64_t>(0, MinOf(lanes, columns - c));
      float* block = to + i * kWidth + c;
      TransposeBlock(b + i + c * column, column, block_columns, depth, block, kWidth,
                     [factor](Floats v) { return factor * v; });
      if (block_columns == lanes) continue;
      for (int64_t r = 0; r < depth; ++r)
        for (int64_t e = block_columns; e < lanes; ++e) block[r * kWidth + e] = 0;
    }
}

// b may have any strides. It is read in blocks of rows, so that each cache line is read once.
void PackStrided(const float* b, int64_t row, int64_t column, int64_t k, int64_t columns, float factor,
                 float* to) {
  constexpr int64_t kBlockRows = 16;
  for (int64_t i = 0; i < k; i += kBlockRows) {
    const int64_t rows = MinOf(kBlockRows, k - i);
    for (int64_t c = 0; c < kWidth; ++c)
      for (int64_t r = 0; r < rows; ++r)
        to[(i + r) * kWidth + c] = c < columns ? factor * b[(i + r) * row + c * column] : 0.0f;
  }
}

// Packs one panel, [k][kWidth].
void PackPanel(const float* b, int64_t row, int64_t column, int64_t k, int64_t columns, float factor,
               float* to) {
  if (column == 1)
    PackRowMajor(b, row, k, columns, factor, to);
  else if (row == 1)
    PackColumnMajor(b, column, k, columns, factor, to);
  else
    PackStrided(b, row, column, k, columns, factor, to);
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
