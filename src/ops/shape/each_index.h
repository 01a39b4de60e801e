// Iterates over every index of some dims in row-major order.
#pragma once
#include "core/tensor.h"

namespace tern {

// Calls f(flat, index) for each index of a tensor with these dims. `flat` is the row-major number of the
// index.
template <class F> void EachIndex(const Dims& dims, F f) {
  const int64_t count = CountOf(dims);
  Dims at(dims.size(), 0);
  for (int64_t flat = 0; flat < count; ++flat) {
    f(flat, static_cast<const Dims&>(at));
    for (size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
}

inline int64_t OffsetOf(const Dims& index, const Dims& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

}  // namespace tern
