#include "data/post/topk.h"

#include <algorithm>
#include <cmath>

#include "data/post/floats.h"

namespace tern::data {

Result<Tensor> AsFloats(const Tensor& t) {
  if (!IsFloat(t.dtype()) && !IsInt(t.dtype()))
    return InvalidArgument(t.Describe(), " does not contain numbers");
  if (t.dtype() == DType::kF32) return t.Contiguous();
  const Tensor from = t.Contiguous();
  Tensor out(DType::kF32, t.dims());
  for (int64_t i = 0; i < t.size(); ++i)
    out.data<float>()[i] = static_cast<float>(IsFloat(from.dtype()) ? LoadDouble(from, i)
                                                                    : static_cast<double>(LoadLong(from, i)));
  return out;
}

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
    const auto kept = static_cast<ptrdiff_t>(std::clamp<int64_t>(k, 0, columns));
    std::partial_sort(row.begin(), row.begin() + kept, row.end(), better);
    row.resize(static_cast<size_t>(kept));
    out.push_back(std::move(row));
  }
  return out;
}

Result<Tensor> Softmax(const Tensor& logits) {
  TERN_ASSIGN(const Tensor in, AsFloats(logits));
  if (in.rank() == 0) return InvalidArgument("softmax needs an axis, but got ", logits.Describe());
  Tensor out(DType::kF32, in.dims());
  const int64_t n = in.dim(-1), rows = n ? in.size() / n : 0;
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = in.data<float>() + r * n;
    float* y = out.data<float>() + r * n;
    const double most = *std::max_element(x, x + n);
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += std::exp(x[i] - most);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(std::exp(x[i] - most) / total);
  }
  return out;
}

Result<Tensor> Sigmoid(const Tensor& logits) {
  TERN_ASSIGN(const Tensor in, AsFloats(logits));
  Tensor out(DType::kF32, in.dims());
  for (int64_t i = 0; i < in.size(); ++i)
    out.data<float>()[i] = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(in.data<float>()[i]))));
  return out;
}

}  // namespace tern::data
