#include "data/post/embedding.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/post/floats.h"

namespace tern::data {
namespace {

// The positions of one row that are not padding.
Result<std::vector<int64_t>> Positions(const Tensor* mask, int64_t row, int64_t length) {
  std::vector<int64_t> out;
  for (int64_t t = 0; t < length; ++t)
    if (!mask || mask->data<float>()[row * length + t] != 0) out.push_back(t);
  if (out.empty()) return InvalidArgument("row ", row, " of the mask has padding only");
  return out;
}

void PoolRow(const float* states, const std::vector<int64_t>& positions, int64_t width, Pooling pooling,
             float* out) {
  if (pooling == Pooling::kCls || pooling == Pooling::kLast) {
    std::copy_n(states + (pooling == Pooling::kCls ? positions.front() : positions.back()) * width, width,
                out);
    return;
  }
  for (int64_t d = 0; d < width; ++d) {
    double total = 0, most = -INFINITY;
    for (const int64_t t : positions) {
      const double v = states[t * width + d];
      total += v;
      if (v > most || std::isnan(v)) most = v;
    }
    out[d] =
        static_cast<float>(pooling == Pooling::kMax ? most : total / static_cast<double>(positions.size()));
  }
}

// Eight sums in parallel, so that the compiler can use vector instructions.
float Dot(const float* a, const float* b, int64_t n) {
  float sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  float total = 0;
  for (const float s : sums) total += s;
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

}  // namespace

Result<Pooling> PoolingFromName(std::string_view name) {
  constexpr std::pair<std::string_view, Pooling> names[] = {
      {"cls", Pooling::kCls}, {"mean", Pooling::kMean}, {"max", Pooling::kMax}, {"last", Pooling::kLast}};
  for (const auto& [text, pooling] : names)
    if (text == name) return pooling;
  return InvalidArgument("unknown pooling '", name, "'; choose one of cls, mean, max, last");
}

Result<Tensor> PoolEmbedding(const Tensor& states, const Tensor* mask, Pooling pooling) {
  TERN_ASSIGN(const Tensor x, AsFloats(states));
  if (x.rank() != 3 || x.dim(1) < 1)
    return InvalidArgument("states must be [N,T,D], got ", states.Describe());
  Tensor m;
  if (mask) {
    if (mask->rank() != 2 || mask->dim(0) != x.dim(0) || mask->dim(1) != x.dim(1))
      return InvalidArgument("a mask of ", mask->Describe(), " does not fit states of ", states.Describe());
    if (mask->dtype() == DType::kBool) {
      const Tensor bools = mask->Contiguous();
      m = Tensor(DType::kF32, mask->dims());
      for (int64_t i = 0; i < m.size(); ++i) m.data<float>()[i] = static_cast<float>(LoadLong(bools, i));
    } else {
      TERN_ASSIGN(m, AsFloats(*mask));
    }
  }
  const int64_t length = x.dim(1), width = x.dim(2);
  Tensor out(DType::kF32, {x.dim(0), width});
  for (int64_t n = 0; n < x.dim(0); ++n) {
    TERN_ASSIGN(const auto positions, Positions(mask ? &m : nullptr, n, length));
    PoolRow(x.data<float>() + n * length * width, positions, width, pooling, out.data<float>() + n * width);
  }
  return out;
}

Result<Tensor> L2Normalise(const Tensor& vectors) {
  TERN_ASSIGN(const Tensor x, AsFloats(vectors));
  if (x.rank() < 1) return InvalidArgument("vectors must be [N,D], got ", vectors.Describe());
  Tensor out(DType::kF32, x.dims());
  const int64_t width = x.dim(-1), rows = width ? x.size() / width : 0;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x.data<float>() + r * width;
    double squares = 0;
    for (int64_t d = 0; d < width; ++d) squares += static_cast<double>(from[d]) * from[d];
    const double length = std::max(std::sqrt(squares), 1e-12);
    for (int64_t d = 0; d < width; ++d)
      out.data<float>()[r * width + d] = static_cast<float>(from[d] / length);
  }
  return out;
}

Result<std::vector<std::vector<Ranked>>> CosineTopK(const Tensor& queries, const Tensor& corpus, int64_t k) {
  if (queries.rank() != 2 || corpus.rank() != 2 || queries.dim(1) != corpus.dim(1))
    return InvalidArgument("queries ", queries.Describe(), " and corpus ", corpus.Describe(),
                           " must be [Q,D] and [N,D]");
  TERN_ASSIGN(const Tensor q, L2Normalise(queries));
  TERN_ASSIGN(const Tensor c, L2Normalise(corpus));
  const int64_t width = q.dim(1);
  Tensor scores(DType::kF32, {c.dim(0)});
  std::vector<std::vector<Ranked>> out;
  for (int64_t i = 0; i < q.dim(0); ++i) {
    for (int64_t n = 0; n < c.dim(0); ++n)
      scores.data<float>()[n] = Dot(q.data<float>() + i * width, c.data<float>() + n * width, width);
    TERN_ASSIGN(auto ranked, TopK(scores, k));
    out.push_back(std::move(ranked[0]));
  }
  return out;
}

}  // namespace tern::data
