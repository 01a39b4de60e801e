// Helpers for the binders in this folder.
#pragma once
#include <iterator>
#include <span>
#include <string>

#include "kernel_api/kernel_table.h"
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern {

// Returns the index of a text in a list of names, or -1 if the list does not contain the text.
template <class Names> int IndexOf(const Names& names, const std::string& text) {
  for (size_t i = 0; i < std::size(names); ++i)
    if (text == names[i]) return static_cast<int>(i);
  return -1;
}

inline bool RankFits(const Dims& dims) { return dims.size() <= static_cast<size_t>(cpu::kMaxRank); }

// Returns the index of an axis that shape inference has checked. Negative axes count from the end.
inline size_t AxisOf(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

// Returns the product of dims. Throws InternalError if the product overflows.
inline int64_t CountIn(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool overflows = false;
  for (int64_t d : dims) {
    if (d == 0) return 0;
    overflows |= __builtin_mul_overflow(count, d, &count);
  }
  TERN_CHECK(!overflows, "impossible dims [", Join(Dims(dims.begin(), dims.end()), ","), "]");
  return count;
}

inline int64_t CountFrom(const Dims& dims, size_t first, size_t last) {
  return CountIn(std::span(dims).subspan(first, last - first));
}

inline cpu::AxisShape AxisShapeOf(const Dims& dims, size_t axis) {
  return {CountFrom(dims, 0, axis), dims[axis], CountFrom(dims, axis + 1, dims.size())};
}

}  // namespace tern
