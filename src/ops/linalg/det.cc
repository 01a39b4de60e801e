// Det: the determinants of square matrices.
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

struct Det : NoAttrs {};

Status Infer(const Det&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), Shape());
  if (!x.ranked) return {};
  if (x.rank() < 2 || (x[-1].known() && x[-2].known() && x[-1] != x[-2]))
    return InvalidModel("x must hold square matrices, got ", x.ToString());
  c.Out("y", c.TypeOf("x"), Shape(std::vector<Dim>(x.dims.begin(), x.dims.end() - 2)));
  return {};
}

// Uses Gaussian elimination with partial pivoting.
double Determinant(std::vector<double> m, size_t n) {
  double det = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; ++r)
      if (std::abs(m[r * n + k]) > std::abs(m[pivot * n + k])) pivot = r;
    if (m[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (size_t j = 0; j < n; ++j) std::swap(m[pivot * n + j], m[k * n + j]);
      det = -det;
    }
    det *= m[k * n + k];
    for (size_t r = k + 1; r < n; ++r) {
      const double f = m[r * n + k] / m[k * n + k];
      for (size_t j = k; j < n; ++j) m[r * n + j] -= f * m[k * n + j];
    }
  }
  return det;
}

Status Reference(const Det&, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto n = static_cast<size_t>(x.dim(-1));
  const auto values = ToDoubles(x);
  Tensor& y = c.Out("y", Dims(x.dims().begin(), x.dims().end() - 2));
  for (int64_t i = 0; i < y.size(); ++i) {
    const auto first = values.begin() + i * static_cast<int64_t>(n * n);
    StoreDouble(y, i, Determinant({first, first + static_cast<int64_t>(n * n)}, n));
  }
  return {};
}

}  // namespace

TERN_OP(Det) {
  return OpDef::Of<Det>("the determinant of each matrix in the last two dims")
      .In("x", kFloats)
      .Out("y", kFloats)
      .Flops(kNoKernel)
      .Batch(kNoKernel)
      .Axes(No{"the matrices must be in the last two axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
