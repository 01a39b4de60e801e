// Copies elements of any type without conversion, including strings and packed types.
#pragma once
#include "core/tensor.h"

namespace tern {

// A strided view of a contiguous tensor: an offset and a stride per dim, in elements. Strides may be zero or
// negative.
struct ElementView {
  int64_t offset = 0;
  Dims strides;
};

// Copies the elements of the view `source` of `from` to the view `target` of `to`. Both views have the dims
// `dims`, and must be inside their tensors. Both tensors must have the same element type.
void CopyElements(const Tensor& from, const ElementView& source, Tensor& to, const ElementView& target,
                  const Dims& dims);

// Copies `count` consecutive elements.
void CopyRun(const Tensor& from, int64_t source, Tensor& to, int64_t target, int64_t count);

// Sets y[i, j, …] to x[sources[0][i], sources[1][j], …]. An element of y with a negative source is unchanged.
// sources[d] has one entry per index of dim d of y.
void CopyMapped(const Tensor& x, Tensor& y, const std::vector<std::vector<int64_t>>& sources);

// Sets all elements of `to` to element `source` of `from`.
void FillElements(const Tensor& from, int64_t source, Tensor& to);

}  // namespace tern
