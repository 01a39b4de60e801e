// Holds the memory of a state, which is a value that persists between runs.
#pragma once
#include "core/tensor.h"
#include "runtime/memory/row_moves.h"

namespace tern {

// A state that grows along one axis up to a capacity, which doubles when it is exceeded. Not thread-safe.
// "Past" is the value that a run reads, "present" the value that it writes.
class StateMemory {
 public:
  // axis: the axis that grows; its length starts at 0. -1: the size is fixed and the value starts as zeros.
  StateMemory(DType dtype, Dims dims, int axis);

  int64_t length() const { return length_; }      // positions along the axis; 0 for a fixed size
  int64_t capacity() const { return capacity_; }  // positions along the axis that fit into the memory
  int axis() const { return axis_; }
  // Whether rows are strided by the capacity, so that a kernel can append in place. Otherwise the value is
  // contiguous.
  bool strided() const { return strided_; }

  // Calls that throw std::bad_alloc change nothing.

  // The value that a run reads, in the layout of strided().
  const Tensor& past() const { return past_; }
  // Reserves memory for a present of this length in the given layout and keeps the past. Allocates nothing if
  // the capacity suffices. Capacities are powers of two times a constant: states that reserve the same
  // length, which none of their capacities exceeds, have equal capacities.
  void Reserve(int64_t length, bool strided);
  // The memory that a run writes the present to: the memory of the past if strided(), else a second buffer.
  const Buffer& present() const { return strided_ ? now_ : next_; }
  // Call after the run has written a present of this length: it becomes the past.
  void Advance(int64_t length);
  // Copies the value, which may have any length along the axis; the capacity does not shrink. Fails if type
  // or other dims differ.
  Status Set(const Tensor& value);
  // Copies rows along an axis before the growing one, up to the current length.
  void MoveRows(int axis, const std::vector<RowMove>& moves);
  Tensor Value() const;  // a contiguous copy
  void Reset();          // length 0, or zeros

 private:
  size_t BytesFor(int64_t length) const;
  Buffer BufferFor(int64_t length) const;
  int64_t CapacityFor(int64_t length) const;
  void Move(int64_t capacity, bool strided);  // copies the past to new memory
  void SetPast();

  const DType dtype_;
  Dims dims_;  // with the length along the axis
  const int axis_;
  int64_t length_ = 0, capacity_ = 0;
  bool strided_ = false;
  Buffer now_, next_;  // memory of the past, and of the present unless strided
  Buffer spare_;       // one row, for MoveRows
  Tensor past_;
};

}  // namespace tern
