#include "data/post/topk.h"

#include <algorithm>
#include <cmath>

namespace tern::data {

Result<std::vector<std::vector<Ranked>>> TopK(const Tensor& scores, int64_t k) {
  if (!IsFloat(scores.dtype()) && !IsInt(scores.dtype()))
    return InvalidArgument("cannot rank ", scores.Describe());
  const Tensor t = scores.Contiguous();
  const int64_t rows = t.rank() > 1 ? t.dim(0) : 1, columns = rows ? t.size() / rows : 0;
  std::vector<std::vector<Ranked>> out;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<Ranked> row;
    for (int64_t i = 0; i < columns; ++i) {
      const int64_t at = r * columns + i;
      row.push_back({i, IsFloat(t.dtype()) ? LoadDouble(t, at) : static_cast<double>(LoadLong(t, at))});
    }
    const auto better = [](const Ranked& a, const Ranked& b) {
      if (std::isnan(a.score) || std::isnan(b.score))
        return std::isnan(b.score) && (!std::isnan(a.score) || a.index < b.index);
      return a.score != b.score ? a.score > b.score : a.index < b.index;
    };
    const auto kept = static_cast<ptrdiff_t>(std::min<int64_t>(k, columns));
    std::partial_sort(row.begin(), row.begin() + kept, row.end(), better);
    row.resize(static_cast<size_t>(kept));
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace tern::data
