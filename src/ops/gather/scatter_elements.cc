// ScatterElements: a copy of x with single elements updated along an axis.
#include "ops/gather/reduction.h"
#include "ops/shape/axes.h"
#include "ops/shape/each_index.h"

namespace tern {
namespace {

struct ScatterElements {
  int64_t axis = 0;
  ScatterReduction reduction = ScatterReduction::kNone;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis of x that indices refer to; a negative axis counts from the end");
    VisitReduction(v, reduction);
  }
};

Status CheckDims(const Shape& x, const Shape& indices, const Shape& updates, int axis) {
  if (x.rank() != indices.rank() || x.rank() != updates.rank())
    return InvalidModel("x, indices and updates have ranks ", x.rank(), ", ", indices.rank(), " and ",
                        updates.rank(), ", but must have the same rank");
  for (int i = 0; i < x.rank(); ++i) {
    if (indices[i].known() && updates[i].known() && indices[i] != updates[i])
      return InvalidModel("indices.dim[", i, "]=", indices[i].value(), ", but updates.dim[", i,
                          "]=", updates[i].value());
    if (i != axis && x[i].known() && indices[i].known() && indices[i].value() > x[i].value())
      return InvalidModel("indices.dim[", i, "]=", indices[i].value(), " is beyond x.dim[", i,
                          "]=", x[i].value());
  }
  return {};
}

Status Infer(const ScatterElements& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &indices = c.ShapeOf("indices"), &updates = c.ShapeOf("updates");
  TERN_TRY(CheckReducible(op.reduction, c.TypeOf("x")));
  if (c.TypeOf("x") != c.TypeOf("updates") && c.TypeOf("updates") != DType::kInvalid &&
      c.TypeOf("x") != DType::kInvalid)
    return InvalidModel("x is ", DTypeName(c.TypeOf("x")), ", but updates is ",
                        DTypeName(c.TypeOf("updates")));
  if (x.ranked && indices.ranked && updates.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    TERN_TRY(CheckDims(x, indices, updates, axis));
  }
  c.Out("y", c.In("x"));
  return {};
}

Status Reference(const ScatterElements& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &indices = c.In("indices"), &updates = c.In("updates");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  const auto a = static_cast<size_t>(axis);
  const Dims strides = ContiguousStrides(x.dims());
  Tensor y = x.Clone();
  Status status;
  EachIndex(indices.dims(), [&](int64_t flat, const Dims& at) {
    const auto i = NormalizeIndex(LoadLong(indices, flat), x.dim(axis), axis);
    if (!i.ok())
      status = i.status();
    else
      ScatterRun(op.reduction, updates, flat, y, OffsetOf(at, strides) + (*i - at[a]) * strides[a], 1);
  });
  TERN_TRY(status);
  c.SetOut("y", std::move(y));
  return {};
}

}  // namespace

TERN_OP(ScatterElements) {
  return OpDef::Of<ScatterElements>(
             "a copy of x with, for axis 1, y[i, indices[i, j, …], …] = updates[i, j, …]; for any axis, the index replaces the coordinate along it")
      .In("x", kAnyType)
      .Setting("indices", kIndices)
      .In("updates", kAnyType)
      .Out("y", kAnyType)
      .Flops(No{"depends on the reduction"})
      .Batch(No{"an index may refer to any item"})
      .Axes(No{"the indices depend on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
