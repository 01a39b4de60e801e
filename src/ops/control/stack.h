// Collects one slice per iteration and stacks the slices into a tensor.
#pragma once
#include <cstring>
#include <vector>

#include "ir/eval_context.h"

namespace tern {

// Stacks tensors of one type and shape along a new axis (0 ≤ axis ≤ rank). `empty` is the type of the result
// if there is no slice.
Result<Tensor> StackSlices(const DatumList& slices, int64_t axis, const Type& empty);
// Collects the outputs of all iterations of a body until they are stacked. The number of iterations may be
// unknown, so Add fails if the total size exceeds CollectLimit() of the context.
class Collector {
 public:
  // Collects `count` outputs of the body, from number `first` on.
  Collector(const EvalContext& c, int first, int count)
      : first_(static_cast<size_t>(first)), limit_(c.CollectLimit()), lists_(static_cast<size_t>(count)) {}
  Status Add(const DatumList& outputs);
  DatumList& operator[](int i) { return lists_[static_cast<size_t>(i)]; }

 private:
  size_t first_, limit_, bytes_ = 0, iterations_ = 0;
  std::vector<DatumList> lists_;
};

// Returns slice `index` of x along axis: x [2,3,4] with axis 1 gives [2,4].
Tensor TakeSlice(const Tensor& x, int axis, int64_t index);

}  // namespace tern
