#include "ops/shape/axes.h"

namespace tern {

Result<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> out;
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    TERN_ASSIGN(const int a, NormalizeAxis(axis, rank));
    if (seen[static_cast<size_t>(a)]) return InvalidModel("axis ", axis, " is listed twice");
    seen[static_cast<size_t>(a)] = true;
    out.push_back(a);
  }
  return out;
}

int64_t CountBetween(const Dims& dims, int begin, int end) {
  return CountOf(Dims(dims.begin() + begin, dims.begin() + end));
}

Dim ProductOf(const std::vector<Dim>& dims, int begin, int end) {
  Dim p = 1;
  for (int i = begin; i < end; ++i) p = p * dims[static_cast<size_t>(i)];
  return p;
}

int KnownLength(const Shape& shape) {
  constexpr int64_t kMaxRank = 4096;  // limits the memory that a hostile shape can cost
  const bool usable = shape.rank() == 1 && shape[0].known() && shape[0].value() <= kMaxRank;
  return usable ? static_cast<int>(shape[0].value()) : -1;
}

Status RequireVector(const InferContext& c, std::string_view port) {
  if (c.ShapeOf(port).rank() > 1)
    return InvalidModel("input '", port, "' must have rank 0 or 1, got ", c.In(port).ToString());
  return {};
}

}  // namespace tern
