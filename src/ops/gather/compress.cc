// Compress: selects the slices whose condition is true.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Compress {
  bool flatten = true;
  int64_t axis = 0;
  template <class V> void Visit(V& v) {
    v("flatten", flatten, "treat x as a flat vector and ignore axis");
    v("axis", axis, "the axis of x along which condition applies; a negative axis counts from the end");
  }
};

Status Infer(const Compress& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &condition = c.ShapeOf("condition");
  if (condition.ranked && condition.rank() != 1)
    return InvalidModel("condition must have rank 1, got rank ", condition.rank());
  Shape y = op.flatten ? Shape({Dim()}) : x;
  if (!op.flatten && x.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    y.dims[static_cast<size_t>(axis)] = Dim();
  }
  c.Out("y", c.TypeOf("x"), std::move(y));
  return {};
}

Status Reference(const Compress& op, EvalContext& c) {
  const Tensor x = op.flatten ? c.In("x").Reshaped({c.In("x").size()}) : c.In("x");
  const Tensor& condition = c.In("condition");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.flatten ? 0 : op.axis, x.rank()));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < condition.size(); ++i) {
    if (!LoadLong(condition, i)) continue;
    if (i >= x.dim(axis))
      return InvalidArgument("condition[", i, "] is true, but axis ", axis, " has size ", x.dim(axis));
    kept.push_back(i);
  }
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(kept.size());
  Tensor& y = c.Out("y", dims);
  const int64_t outer = CountBetween(x.dims(), 0, axis), inner = CountBetween(x.dims(), axis + 1, x.rank());
  int64_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k : kept) {
      CopyRun(x, (o * x.dim(axis) + k) * inner, y, to, inner);
      to += inner;
    }
  return {};
}

}  // namespace

TERN_OP(Compress) {
  return OpDef::Of<Compress>("the slices of x along axis whose condition is true")
      .In("x", kAnyType)
      .Setting("condition", kBools)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kFewer},
             No{"the selected elements are not one contiguous slice of x"})
      .Batch(No{"the condition may drop items"})
      .Axes(No{"with `flatten`, the result depends on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
