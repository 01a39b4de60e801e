#include "kernels/cpu/move/transpose_simd.h"

#include "kernels/cpu/move/interleave-inl.h"
#include "kernels/cpu/move/square-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Transposes squares in registers. Squares that are neighbours in a row of y are transposed one after the
// other.
template <class T>
void Squares(const T* x, int64_t from_row, int64_t rows, int64_t columns, T* y, int64_t to_row) {
  constexpr int64_t side = kSide<T>;
  for (int64_t j = 0; j < columns; j += side, x += side, y += side * to_row) {
    const int64_t width = MinOf(side, columns - j);
    int64_t i = 0;
    if (width == side)
      for (; i + side <= rows; i += side) TransposeSquare(x + i * from_row, from_row, y + i, to_row);
    for (; i < rows; i += side)
      TransposePart(x + i * from_row, from_row, MinOf(side, rows - i), width, y + i, to_row);
  }
}

// Transposes the matrix by squares. If a square is narrower than a cache line, squares that are neighbours in
// a row of x share cache lines. If the rows of x have a large stride, they may map to the same cache sets,
// which soon evicts these lines. The function then transposes all squares of the same rows before it goes to
// the next rows.
template <class T>
void SquaresOfLines(const T* x, int64_t from_row, int64_t rows, int64_t columns, T* y, int64_t to_row) {
  const int64_t rows_at_once = kVectorBytes < 64 && from_row > to_row ? kSide<T> : MaxOf<int64_t>(rows, 1);
  for (int64_t i = 0; i < rows; i += rows_at_once)
    Squares(x + i * from_row, from_row, MinOf(rows_at_once, rows - i), columns, y + i, to_row);
}

// Interleaves or deinterleaves 2 to 4 contiguous rows or columns. Transposes other matrices by squares.
template <class T>
void TransposeAll(const void* from, int64_t from_row, int64_t rows, int64_t columns, void* to,
                  int64_t to_row) {
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  if (to_row == rows) {
    if (rows == 2) return Interleave<2>(x, from_row, columns, y);
    if (rows == 3) return Interleave<3>(x, from_row, columns, y);
    if (rows == 4) return Interleave<4>(x, from_row, columns, y);
  }
  if (from_row == columns) {
    if (columns == 2) return Separate<2>(x, rows, y, to_row);
    if (columns == 3) return Separate<3>(x, rows, y, to_row);
    if (columns == 4) return Separate<4>(x, rows, y, to_row);
  }
  SquaresOfLines(x, from_row, rows, columns, y, to_row);
}

}  // namespace

const TransposeTable kTransposeSimd = {TransposeAll<uint8_t>, TransposeAll<uint16_t>, TransposeAll<float>,
                                       TransposeAll<double>};

}  // namespace tern::cpu::TERN_SIMD
