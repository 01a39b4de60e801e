// A node that has not run, but whose dims are known. It is the argument of rules about memory and batches.
#pragma once
#include <vector>

#include "ir/attrs.h"

namespace tern {

struct StaticValue {
  DType dtype = DType::kInvalid;  // kInvalid for an absent input
  Dims dims;
  const Tensor* known = nullptr;  // the data if known before the run; not owned
};

struct StaticNode {
  const Attrs* attrs = nullptr;  // not owned
  std::vector<StaticValue> inputs, outputs;

  bool Has(size_t i) const { return i < inputs.size() && inputs[i].dtype != DType::kInvalid; }
  const Tensor* Known(size_t i) const { return Has(i) ? inputs[i].known : nullptr; }
  // Returns the attribute `axis`. If it is negative, adds the number of `dims`.
  int64_t Axis(const Dims& dims) const {
    const int64_t axis = attrs->Int("axis");
    return axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  }
};

}  // namespace tern
