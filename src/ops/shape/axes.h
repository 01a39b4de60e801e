// Checks and normalises axes and indices.
#pragma once
#include <vector>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// Maps each axis in [-rank, rank) to [0, rank), in the given order. Fails if an axis is listed twice.
Result<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank);

// Maps an index in [-dim, dim) to [0, dim). The error names index, axis and dim.
inline Result<int64_t> NormalizeIndex(int64_t index, int64_t dim, int64_t axis) {
  if (index < -dim || index >= dim)
    return InvalidArgument("index ", index, " is outside [", -dim, ", ", dim, ") along axis ", axis,
                           " of size ", dim);
  return index < 0 ? index + dim : index;
}

// Returns the product of dims [begin, end).
int64_t CountBetween(const Dims& dims, int begin, int end);
// Returns the product of dims [begin, end) as an expression.
Dim ProductOf(const std::vector<Dim>& dims, int begin, int end);

// Returns the length of a 1-D shape, or -1 if it is unknown or above 4096.
int KnownLength(const Shape& shape);
// Fails if the rank is known to be 2 or more. For inputs that are lists of axes, sizes or repeats.
Status RequireVector(const InferContext& c, std::string_view port);

}  // namespace tern
