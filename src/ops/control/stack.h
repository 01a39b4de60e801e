// Collects one slice per iteration and stacks the slices into a tensor.
#pragma once
#include <cstring>
#include <vector>

#include "ir/eval_context.h"

namespace tern {

// Stacks tensors of one type and shape along a new axis (0 ≤ axis ≤ rank). empty: the type and dims of the
// result if there is no slice.
Result<Tensor> StackSlices(const DatumList& slices, int64_t axis, const Type& empty);
// Holds the outputs of a body of all iterations until they are stacked. The number of iterations is unknown,
// so the context limits the total size.
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

// Returns slice `index` of x along axis, without that axis.
Tensor TakeSlice(const Tensor& x, int axis, int64_t index);

}  // namespace tern
