// Collecting one slice per iteration into a tensor.
#pragma once
#include <cstring>
#include <vector>

#include "ir/eval_context.h"

namespace tern {

// Tensors of one type and shape, put along a new axis (0 ≤ axis ≤ rank). `empty` gives type and dims when
// there is no slice.
Result<Tensor> StackSlices(const DatumList& slices, int64_t axis, const Type& empty);
// What a body gives per iteration, until it is stacked. Whoever runs a loop does not know when it ends, so it
// may hold no more than the context's limit.
class Collector {
 public:
  // Keeps `count` lists: the body's outputs from `first` on that somebody wants.
  Collector(const EvalContext& c, int first, int count)
      : first_(static_cast<size_t>(first)), limit_(c.CollectLimit()), lists_(static_cast<size_t>(count)) {}
  Status Add(const DatumList& outputs);
  DatumList& operator[](int i) { return lists_[static_cast<size_t>(i)]; }

 private:
  size_t first_, limit_, bytes_ = 0, iterations_ = 0;
  std::vector<DatumList> lists_;
};

// Slice `index` of x along axis, the axis dropped.
Tensor TakeSlice(const Tensor& x, int axis, int64_t index);

}  // namespace tern
