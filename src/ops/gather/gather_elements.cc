// GatherElements: selects one element per index along an axis.
#include "ops/shape/axes.h"
#include "ops/shape/each_index.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct GatherElements {
  int64_t axis = 0;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis of x that indices refer to; a negative axis counts from the end");
  }
};

Status CheckIndexDims(const Shape& x, const Shape& indices, int axis) {
  if (x.rank() != indices.rank())
    return InvalidModel("indices has rank ", indices.rank(), ", but x has rank ", x.rank());
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis && x[i].known() && indices[i].known() && indices[i].value() > x[i].value())
      return InvalidModel("indices.dim[", i, "]=", indices[i].value(), " is beyond x.dim[", i,
                          "]=", x[i].value());
  return {};
}

Status Infer(const GatherElements& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &indices = c.ShapeOf("indices");
  if (x.ranked && indices.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    TERN_TRY(CheckIndexDims(x, indices, axis));
  }
  c.Out("y", c.TypeOf("x"), indices);
  return {};
}

Status Reference(const GatherElements& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &indices = c.In("indices");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  const auto a = static_cast<size_t>(axis);
  const Dims strides = ContiguousStrides(x.dims());
  Tensor& y = c.Out("y", indices.dims());
  Status status;
  EachIndex(indices.dims(), [&](int64_t flat, const Dims& at) {
    const auto i = NormalizeIndex(LoadLong(indices, flat), x.dim(axis), axis);
    if (!i.ok())
      status = i.status();
    else
      CopyRun(x, OffsetOf(at, strides) + (*i - at[a]) * strides[a], y, flat, 1);
  });
  return status;
}

}  // namespace

TERN_OP(GatherElements) {
  return OpDef::Of<GatherElements>(
             "for axis 1, y[i, j, …] = x[i, indices[i, j, …], …]; for any axis, the index replaces the coordinate along it")
      .In("x", kAnyType)
      .Setting("indices", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kAny},
             No{"the selected elements are not one contiguous slice of x"})
      .Batch(No{"an index may refer to any item"})
      .Axes(No{"the indices depend on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
