// Copies elements without conversion, of every type, including strings and packed types.
#pragma once
#include "core/tensor.h"

namespace tern {

// A strided view of a contiguous tensor: an offset and a stride per dim, in elements. Strides may be zero or
// negative.
struct ElementView {
  int64_t offset = 0;
  Dims strides;
};

// Copies from[i] to to[i] for every index i below dims. Both tensors must have the same element type. The
// views must be inside the tensors.
void CopyElements(const Tensor& from, const ElementView& source, Tensor& to, const ElementView& target,
                  const Dims& dims);

// Copies `count` consecutive elements.
void CopyRun(const Tensor& from, int64_t source, Tensor& to, int64_t target, int64_t count);

// Sets y[i, j, …] to x[sources[0][i], sources[1][j], …]. An element of y with a negative source is unchanged.
// `sources` has one list per dim, which is as long as y's dim.
void CopyMapped(const Tensor& x, Tensor& y, const std::vector<std::vector<int64_t>>& sources);

// Sets all elements of `to` to element `source` of `from`.
void FillElements(const Tensor& from, int64_t source, Tensor& to);

}  // namespace tern
