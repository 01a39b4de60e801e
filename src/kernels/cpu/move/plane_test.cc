#include "kernels/cpu/move/plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tern::cpu {
namespace {

// Returns the plane of a matrix transpose whose result is [rows, columns].
Plane Transposed(int64_t rows, int64_t columns) { return {{rows, 1, columns}, {columns, rows, 1}}; }

void CheckOnce(const Plane& plane, int64_t width, int64_t bytes) {
  const PlaneBlocks blocks(plane, width, bytes);
  std::vector<char> seen(static_cast<size_t>(plane.rows.size * plane.columns.size));
  for (int64_t i = 0; i < blocks.count(); ++i) {
    const PlaneBlock p = blocks[i];
    ASSERT_LE((p.row_end - p.row) * (p.column_end - p.column), blocks.cells());
    for (int64_t r = p.row; r < p.row_end; ++r)
      for (int64_t c = p.column; c < p.column_end; ++c)
        ++seen[static_cast<size_t>(r * plane.columns.size + c)];
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](char n) { return n == 1; }))
      << plane.rows.size << " x " << plane.columns.size << " of " << width;
}

TEST(PlaneBlocks, CoverThePlaneOnce) {
  const int64_t sizes[] = {0, 1, 3, 16, 21, 64, 100, 1030};
  for (int64_t rows : sizes)
    for (int64_t columns : sizes)
      for (int64_t width : {1, 2, 4, 8, 16})
        for (int64_t bytes : {int64_t{1} << 10, int64_t{1} << 30}) {
          CheckOnce(Transposed(rows, columns), width, bytes);
          CheckOnce({{rows, columns, columns}, {columns, 1, 1}}, width, bytes);
        }
}

// Blocks read and write full cache lines. A row of a block has at least 1 KiB in the tensor with the larger
// row stride.
TEST(PlaneBlocks, HoldFullCacheLinesOfBothSides) {
  for (int64_t width : {1, 2, 4, 8})
    for (const Plane& plane : {Transposed(50176, 64), Transposed(64, 50176), Transposed(4096, 4096)}) {
      const PlaneBlock p = PlaneBlocks(plane, width, 1 << 30)[0];
      const int64_t read = (p.row_end - p.row) * width, written = (p.column_end - p.column) * width;
      EXPECT_GE(std::min(read, written), 64) << width;
      EXPECT_GE(plane.rows.size >= plane.columns.size ? read : written, 1024) << width;
    }
}

}  // namespace
}  // namespace tern::cpu
