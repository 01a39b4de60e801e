// Collects one slice per iteration and stacks the slices into a tensor.
#pragma once
#include <cstring>
#include <vector>

#include "ir/eval_context.h"

namespace tern {

// Stacks slices along a new axis: three slices [2,4] with axis 1 become [2,3,4]. All slices must have the
// same type and dims. If there are no slices, the result is empty and has the type `empty`, with size 0 for
// the dim `axis` and for unknown dims.
Result<Tensor> StackSlices(const DatumList& slices, int64_t axis, const Type& empty);
// Collects outputs of a body in all iterations. Add fails if an output is not a tensor, or if the collected
// bytes exceed CollectLimit() of the context, because a loop may run any number of iterations.
class Collector {
 public:
  // Collects the outputs `first` to `first` + `count` - 1 of the body.
  Collector(const EvalContext& c, int first, int count)
      : first_(static_cast<size_t>(first)), limit_(c.CollectLimit()), lists_(static_cast<size_t>(count)) {}
  Status Add(const DatumList& outputs);
  DatumList& operator[](int i) { return lists_[static_cast<size_t>(i)]; }

 private:
  size_t first_, limit_, bytes_ = 0, iterations_ = 0;
  std::vector<DatumList> lists_;
};

// Returns slice `index` of x along axis. The slice of x [2,3,4] along axis 1 is [2,4].
Tensor TakeSlice(const Tensor& x, int axis, int64_t index);

}  // namespace tern
