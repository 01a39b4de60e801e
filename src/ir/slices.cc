#include "ir/slices.h"

#include <algorithm>

namespace tern {

bool Outermost(const Dims& dims, int64_t axis) {
  return std::all_of(dims.begin(), dims.begin() + axis, [](int64_t d) { return d == 1; });
}

bool Contiguous(const Dims& full, const Dims& slice) {
  size_t axis = 0;
  while (axis < slice.size() && slice[axis] == 1) ++axis;
  for (size_t i = axis + 1; i < slice.size(); ++i)
    if (slice[i] != full[i]) return false;
  return true;
}

std::optional<std::vector<int64_t>> SlicesAlongAxis(const StaticNode& node, const Dims& full,
                                                    const std::vector<StaticValue>& slices) {
  if (!Outermost(full, node.Axis(full))) return std::nullopt;
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (const StaticValue& slice : slices) {
    if (slice.dtype == DType::kInvalid) return std::nullopt;
    offsets.push_back(at);
    at += CountOf(slice.dims);
  }
  return offsets;
}

}  // namespace tern
