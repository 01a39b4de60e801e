// The two innermost loops of a copy, and the pieces of them that threads take one by one.
#pragma once
#include "kernels/cpu/move/copy.h"

namespace tern::cpu {

struct Plane {
  StridedCopy::Axis rows, columns;
  // Read along one axis and written along the other: a matrix transposed over.
  bool Transposed() const {
    return rows.from == 1 && columns.to == 1 && columns.from != 1 && columns.from != 0;
  }
};

// Rows [row, row_end) and columns [column, column_end) of a plane.
struct Piece {
  int64_t row, row_end, column, column_end;
};

// Pieces are whole rows, but those of a plane that is transposed over: there they are blocks, long on the
// side whose lines lie further apart, so that the processor sees a few streams of it and fetches them ahead,
// and narrow enough on the other for what is touched to stay in cache. They come in the order of the other
// side.
class Pieces {
 public:
  Pieces(const Plane& plane, int64_t width, int64_t bytes);  // of an element, of the whole copy
  int64_t count() const { return count_; }
  int64_t cells() const { return rows_ * columns_; }  // of a piece, at most
  int64_t work() const;  // that it takes, as a number of elements that are side by side
  Piece operator[](int64_t i) const;

 private:
  int64_t all_rows_, all_columns_;
  int64_t rows_, columns_;  // of a piece
  int64_t count_;
  bool down_ = false;    // pieces below each other come one after the other
  int64_t in_line_ = 1;  // how many do
};

}  // namespace tern::cpu
