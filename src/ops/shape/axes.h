// Axes and indices as users give them, checked.
#pragma once
#include <vector>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// Each axis in [-rank, rank) to [0, rank), in the given order; an axis named twice is an error.
Result<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank);

// index in [-dim, dim) to [0, dim), or an error that names index, axis and dim.
inline Result<int64_t> NormalizeIndex(int64_t index, int64_t dim, int64_t axis) {
  if (index < -dim || index >= dim)
    return InvalidArgument("index ", index, " is outside [", -dim, ", ", dim, ") along axis ", axis,
                           " of size ", dim);
  return index < 0 ? index + dim : index;
}

// Product of some dims: [begin, end).
int64_t CountBetween(const Dims& dims, int begin, int end);
// Product as an expression.
Dim ProductOf(const std::vector<Dim>& dims, int begin, int end);

// The length of a 1-D input, or -1.
int KnownLength(const Shape& shape);
// The rank must be 0 or 1 where it is known: lists of axes, sizes, repeats.
Status RequireVector(const InferContext& c, std::string_view port);

}  // namespace tern
