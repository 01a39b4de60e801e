// Normalizer: divides each row by its norm.
#include <algorithm>
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/ml/forest.h"

namespace tern {
namespace {

enum class Norm { kMax, kL1, kL2 };

struct Normalizer {
  Norm norm = Norm::kMax;
  template <class V> void Visit(V& v) {
    v.Enum("norm", norm, {"max", "l1", "l2"},
           "the norm of a row: its maximum, the sum of magnitudes, or the root of the sum of squares");
  }
};

Status Infer(const Normalizer&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() != 1 && x.rank() != 2)
    return InvalidModel("input 'x' must be [rows, features] or [features], got ", c.In("x").ToString());
  c.Out("y", DType::kF32, x);
  return {};
}

double NormOf(Norm norm, const double* row, int64_t width) {
  double magnitude = norm == Norm::kMax ? row[0] : 0;
  for (int64_t i = 0; i < width; ++i)
    magnitude = norm == Norm::kMax  ? (std::isnan(row[i]) ? row[i] : std::max(magnitude, row[i]))
                : norm == Norm::kL1 ? magnitude + std::fabs(row[i])
                                    : magnitude + row[i] * row[i];
  return norm == Norm::kL2 ? std::sqrt(magnitude) : magnitude;
}

Status Reference(const Normalizer& op, EvalContext& c) {
  TERN_ASSIGN(Rows x, RowsOf(c.In("x")));
  for (int64_t r = 0; r < x.count && x.width > 0; ++r) {
    const double magnitude = NormOf(op.norm, x.Row(r), x.width);
    for (int64_t i = 0; i < x.width && magnitude != 0; ++i)
      x.data[static_cast<size_t>(r * x.width + i)] /= magnitude;
  }
  c.Out("y", c.In("x").dims(), x.data);
  return {};
}

}  // namespace

TERN_OP(Normalizer) {
  return OpDef::Of<Normalizer>("each row of x divided by its norm; a row of norm 0 is unchanged")
      .In("x", kFloats | kIndices)
      .Out("y", SetOf(DType::kF32))
      .Flops(No{"depends on the norm"})
      .Batch(No{"rows are small"})
      .Axes(No{"the axes must be rows and features, in this order"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
