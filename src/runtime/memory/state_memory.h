// The memory of a value that lives between runs.
#pragma once
#include "core/tensor.h"

namespace tern {

// A state with its axis of growth, its length along it, and room for more. Used by one thread at a time.
class StateMemory {
 public:
  // dims: with the length 0 along the axis that grows; axis -1: the size is fixed, and the value begins as
  // zeros.
  StateMemory(DType dtype, Dims dims, int axis);

  int64_t length() const { return length_; }      // along the axis; 0 for a fixed size
  int64_t capacity() const { return capacity_; }  // positions along the axis that there is room for
  int axis() const { return axis_; }
  // Appends in place: positions have the stride of the capacity. Else the value is contiguous.
  bool strided() const { return strided_; }

  // What a run reads. Its bytes are laid out as strided() says.
  const Tensor& past() const { return past_; }
  // Makes room for a present of this length in the given layout; the past keeps its elements. Capacity grows
  // by doubling. Allocates nothing while there is room.
  void Reserve(int64_t length, bool strided);
  // Where a run writes the present: the memory of the past where it is appended in place, else another one.
  const Buffer& present() const { return strided_ ? now_ : next_; }
  // The run has written a present of this length.
  void Advance(int64_t length);
  // Sets the value, contiguous, of any length along the axis.
  Status Set(const Tensor& value);
  Tensor Value() const;  // a contiguous copy
  void Reset();          // length 0, or zeros

 private:
  size_t BytesFor(int64_t length) const;
  void Move(int64_t capacity, bool strided);  // to new memory
  void SetPast();

  const DType dtype_;
  Dims dims_;  // with the length along the axis
  const int axis_;
  int64_t length_ = 0, capacity_ = 0;
  bool strided_ = false;
  Buffer now_, next_;  // next_: where the present is not appended in place
  Tensor past_;
};

}  // namespace tern
