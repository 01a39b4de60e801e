// A plane is the part of a copy that its two innermost loops visit. A plane is split into blocks, which are
// distributed to threads.
#pragma once
#include "kernels/cpu/move/copy.h"

namespace tern::cpu {

struct Plane {
  StridedCopy::Axis rows, columns;
  // Returns whether the plane is read along one axis and written along the other, as in a matrix transpose.
  bool Transposed() const {
    return rows.from == 1 && columns.to == 1 && columns.from != 1 && columns.from != 0;
  }
};

// Rows [row, row_end) and columns [column, column_end) of a plane.
struct PlaneBlock {
  int64_t row, row_end, column, column_end;
};

// Splits a plane into blocks. A block is a number of full rows, except in a transpose. In a transpose, one
// axis of a block is contiguous in x and the other is contiguous in y. The block is long along the axis that
// is contiguous in the tensor with the larger row stride, so that the hardware prefetcher sees few streams.
// In a small copy, the block is long along the axis that is contiguous in y if this axis fills a cache line.
// The block is short along its other axis, so that the cache lines that it reads and writes stay in the
// cache. Blocks are ordered along the short axis.
class PlaneBlocks {
 public:
  // `width` is the size of an element, and `bytes` is the size of the entire copy, both in bytes.
  PlaneBlocks(const Plane& plane, int64_t width, int64_t bytes);
  int64_t count() const { return count_; }
  int64_t cells() const { return rows_ * columns_; }  // maximum elements of a block
  int64_t work() const;  // cost of a block; the unit is the cost of one contiguous element
  PlaneBlock operator[](int64_t i) const;

 private:
  int64_t all_rows_, all_columns_;
  int64_t rows_, columns_;  // size of a block
  int64_t count_;
  bool down_ = false;    // the next block is below this one, not to its right
  int64_t in_line_ = 1;  // number of blocks in the direction that down_ selects
};

}  // namespace tern::cpu
