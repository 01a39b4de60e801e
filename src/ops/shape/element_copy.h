// Moving elements without looking at them: exact for every type, strings and packed ones too.
#pragma once
#include "core/tensor.h"

namespace tern {

// Elements in a contiguous tensor, by an offset and a stride per dimension (in elements; zero and negative
// are fine).
struct ElementView {
  int64_t offset = 0;
  Dims strides;
};

// to[i] = from[i] for every index i below dims. Both tensors have one element type; the views stay inside
// them.
void CopyElements(const Tensor& from, const ElementView& source, Tensor& to, const ElementView& target,
                  const Dims& dims);

// The same for a run of neighbours.
void CopyRun(const Tensor& from, int64_t source, Tensor& to, int64_t target, int64_t count);

// y[i, j, …] = x[sources[0][i], sources[1][j], …]; where a source is negative y keeps what it has. sources
// has one list per dim, as long as y's dim.
void CopyMapped(const Tensor& x, Tensor& y, const std::vector<std::vector<int64_t>>& sources);

// All of `to` becomes element `source` of `from`.
void FillElements(const Tensor& from, int64_t source, Tensor& to);

}  // namespace tern
