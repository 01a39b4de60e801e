// Helpers for the axes of reductions.
#pragma once
#include <vector>

#include "ir/infer_context.h"

namespace tern {

// Returns a mask of the listed axes. Negative axes count from the end. Fails if an axis is out of range or
// listed twice.
inline Result<std::vector<bool>> AxisMask(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> mask(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    TERN_ASSIGN(const int i, NormalizeAxis(axis, rank));
    if (mask[static_cast<size_t>(i)]) return InvalidModel("axis ", axis, " is listed twice");
    mask[static_cast<size_t>(i)] = true;
  }
  return mask;
}

// Returns the dims after a reduction along the masked axes. If axis 1 is masked, [2,3,4] becomes [2,1,4] if
// `keep` is true, and [2,4] otherwise. T is Dim or int64_t.
template <class T>
std::vector<T> ReducedDims(const std::vector<T>& dims, const std::vector<bool>& mask, bool keep) {
  std::vector<T> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!mask[i])
      out.push_back(dims[i]);
    else if (keep)
      out.push_back(T(1));
  }
  return out;
}

// A tensor viewed along one axis as [outer, length, inner].
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
  AxisView(const Dims& dims, int axis) : length(dims[static_cast<size_t>(axis)]) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (static_cast<int>(i) < axis) outer *= dims[i];
      if (static_cast<int>(i) > axis) inner *= dims[i];
    }
  }
  // Calls f for each line along the axis, with the offset of the line's first element. The elements of a line
  // have stride `inner`.
  template <class F> void EachLine(F f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) f(o * length * inner + i);
  }
};

}  // namespace tern
