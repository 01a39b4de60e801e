// The memory of a state, which is a value that persists between runs.
#pragma once
#include "core/tensor.h"
#include "runtime/memory/row_moves.h"

namespace tern {

// A state that grows along one axis up to a capacity, which doubles when it is exceeded. Not thread-safe.
// The "past" is the value that a run reads, and the "present" is the value that it writes.
class StateMemory {
 public:
  // `axis` is the axis that grows. Its length starts at 0. If `axis` is -1, the size is fixed and the value
  // starts as zeros.
  StateMemory(DType dtype, Dims dims, int axis);

  int64_t length() const { return length_; }      // positions along the axis; 0 for a fixed size
  int64_t capacity() const { return capacity_; }  // positions along the axis that fit into the memory
  int axis() const { return axis_; }
  // Returns whether the row stride is the capacity, so that a kernel can append to each row in place.
  // Otherwise the value is contiguous.
  bool strided() const { return strided_; }

  // If a function below except Resize throws std::bad_alloc, it has changed nothing.

  // Returns the value that a run reads, strided if strided(), else contiguous.
  const Tensor& past() const { return past_; }
  // Reserves memory for a present of this length in the given layout and keeps the past. Allocates nothing if
  // the capacity suffices and the layout does not change. The capacity is a constant times a power of two. So
  // states that reserve the same length get the same capacity, unless one already has a larger capacity.
  void Reserve(int64_t length, bool strided);
  // Returns the memory that a run writes the present to. It is the memory of the past if strided(), else a
  // second buffer.
  const Buffer& present() const { return strided_ ? now_ : next_; }
  // Makes the present the past. Call this after the run has written a present of this length.
  void Advance(int64_t length);
  // Sets the past to a copy of the value, which may have any length along the axis. The capacity does not
  // shrink. Fails if the type or another dim differs.
  Status Set(const Tensor& value);
  // Sets the number of rows along `axis`, which must precede the axis that grows, and the length. Rows and
  // positions that exist before and after keep their values. New ones have any earlier value of the memory,
  // or zeros. The layout becomes strided. If Resize throws std::bad_alloc, call Reset before any other
  // function.
  void Resize(int axis, int64_t rows, int64_t length);
  // The memory of the past. Its dim along the axis that grows is the row stride: the capacity if strided(),
  // else the length.
  Tensor Memory() const;
  // Copies rows along `axis`, which must precede the axis that grows. Copies only positions below the current
  // length.
  void MoveRows(int axis, const std::vector<RowMove>& moves);
  // Allocates the memory that MoveRows needs, so that MoveRows does not throw.
  void PrepareMoveRows(int axis, const std::vector<RowMove>& moves);
  Tensor Value() const;  // a contiguous copy
  void Reset();          // sets the length to 0, or a fixed-size value to zeros

 private:
  size_t BytesFor(int64_t length) const;
  Buffer BufferFor(int64_t length) const;
  int64_t CapacityFor(int64_t length) const;
  void Move(int64_t capacity, bool strided);  // copies the past to new memory of this capacity
  void SetPast();

  const DType dtype_;
  Dims dims_;  // dims of the past
  const int axis_;
  int64_t length_ = 0, capacity_ = 0;
  bool strided_ = false;
  Buffer now_, next_;  // now_ contains the past; next_ receives the present if the layout is not strided
  Buffer spare_;       // one row, for MoveRows
  Tensor past_;
};

}  // namespace tern
