// Inverse: the inverses of square matrices.
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct Inverse : NoAttrs {};

Status Infer(const Inverse&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && (x.rank() < 2 || (x[-1].known() && x[-2].known() && x[-1] != x[-2])))
    return InvalidModel("x must hold square matrices, got ", x.ToString());
  c.Out("y", c.In("x"));
  return {};
}

void AddRow(std::vector<double>& m, size_t n, size_t from, size_t to, double factor) {
  for (size_t j = 0; j < n; ++j) m[to * n + j] += factor * m[from * n + j];
}

// Uses Gauss-Jordan elimination with partial pivoting. The inverse of a singular matrix contains infinities
// and NaNs.
std::vector<double> Inverted(std::vector<double> m, size_t n) {
  std::vector<double> y(n * n, 0);
  for (size_t i = 0; i < n; ++i) y[i * n + i] = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; ++r)
      if (std::fabs(m[r * n + k]) > std::fabs(m[pivot * n + k])) pivot = r;
    for (size_t j = 0; pivot != k && j < n; ++j) {
      std::swap(m[pivot * n + j], m[k * n + j]);
      std::swap(y[pivot * n + j], y[k * n + j]);
    }
    const double scale = 1 / m[k * n + k] - 1;
    AddRow(y, n, k, k, scale);
    AddRow(m, n, k, k, scale);
    for (size_t r = 0; r < n; ++r) {
      if (r == k) continue;
      const double factor = -m[r * n + k];
      AddRow(y, n, k, r, factor);
      AddRow(m, n, k, r, factor);
    }
  }
  return y;
}

Status Reference(const Inverse&, EvalContext& c) {
  const Tensor& x = c.In("x");
  if (x.rank() < 2 || x.dim(-1) != x.dim(-2))
    return InvalidArgument("x must hold square matrices, got ", x.Describe());
  auto y = c.Doubles("x");
  const auto n = static_cast<size_t>(x.dim(-1));
  for (size_t at = 0; n && at < y.size(); at += n * n) {
    const auto first = y.begin() + static_cast<int64_t>(at), last = first + static_cast<int64_t>(n * n);
    const auto inverse = Inverted({first, last}, n);
    std::copy(inverse.begin(), inverse.end(), first);
  }
  c.Out("y", x.dims(), y);
  return {};
}

}  // namespace

TERN_OP(Inverse) {
  return OpDef::Of<Inverse>("the inverse of each square matrix of x")
      .In("x", kFloats)
      .Out("y", kFloats)
      .Flops(kNoKernel)
      .Batch(kNoKernel)
      .Axes(No{"the matrices must be in the last two axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
