#include "kernels/cpu/move/transpose_simd.h"

#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Squares in registers; those that lie behind each other in `to` come one after the other.
void Words(const void* from, int64_t from_row, int64_t rows, int64_t columns, void* to, int64_t to_row) {
  constexpr int64_t side = kLanes<float>;
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  for (int64_t j = 0; j < columns; j += side)
    for (int64_t i = 0; i < rows; i += side)
      TransposeBlock(x + i * from_row + j, from_row, Least(side, rows - i), Least(side, columns - j),
                     y + j * to_row + i, to_row);
}

}  // namespace

const TransposeTable kTransposeSimd = {Words};

}  // namespace tern::cpu::TERN_SIMD
