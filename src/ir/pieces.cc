#include "ir/pieces.h"

#include <algorithm>

namespace tern {

bool Outermost(const Dims& dims, int64_t axis) {
  return std::all_of(dims.begin(), dims.begin() + axis, [](int64_t d) { return d == 1; });
}

bool Contiguous(const Dims& whole, const Dims& piece) {
  size_t axis = 0;
  while (axis < piece.size() && piece[axis] == 1) ++axis;
  for (size_t i = axis + 1; i < piece.size(); ++i)
    if (piece[i] != whole[i]) return false;
  return true;
}

std::optional<std::vector<int64_t>> PiecesAlongAxis(const StaticNode& node, const Dims& whole,
                                                    const std::vector<StaticValue>& pieces) {
  if (!Outermost(whole, node.Axis(whole))) return std::nullopt;
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (const StaticValue& piece : pieces) {
    if (piece.dtype == DType::kInvalid) return std::nullopt;
    offsets.push_back(at);
    at += CountOf(piece.dims);
  }
  return offsets;
}

}  // namespace tern
