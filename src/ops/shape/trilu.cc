// Trilu: the upper or lower triangle of matrices.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Trilu {
  bool upper = true;
  template <class V> void Visit(V& v) {
    v("upper", upper, "keep the elements in columns j >= row + k; otherwise those in columns j <= row + k");
  }
};

Status Infer(const Trilu&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() < 2) return InvalidModel("x must have rank 2 or more, got ", c.In("x").ToString());
  if (const Tensor* k = c.Constant("k"); k && k->size() != 1)
    return InvalidModel("k must have one element, got ", k->Describe());
  c.Out("y", c.In("x"));
  return {};
}

Status Reference(const Trilu& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  const int64_t given = c.Has("k") ? LoadLong(c.In("k"), 0) : 0;
  const int64_t k =
      std::max(-rows - 1, std::min(given, columns + 1));  // values beyond these limits have the same result
  Tensor& y = c.Out("y", x.dims());
  for (int64_t row = 0; columns > 0 && row < x.size() / columns; ++row) {
    const int64_t edge = row % rows + k;
    const int64_t first = op.upper ? std::max<int64_t>(0, std::min(edge, columns)) : 0;
    const int64_t last = op.upper ? columns : std::max<int64_t>(0, std::min(edge + 1, columns));
    CopyRun(x, row * columns + first, y, row * columns + first, last - first);
  }
  return {};
}

}  // namespace

TERN_OP(Trilu) {
  return OpDef::Of<Trilu>(
             "the elements of each matrix on and above, or on and below, diagonal k; zeros elsewhere")
      .In("x", kNumbers | kBools)
      .OptSetting("k", kIndices)
      .Out("y", kNumbers | kBools)
      .Moves({.border = Movement::Border::kConstant}, No{"some elements of the result are zeros"})
      .Batch(No{"a single matrix has no items"})
      .Axes(No{"rows and columns differ in meaning"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
