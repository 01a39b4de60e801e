// GatherND: selects slices by index tuples.
#include "ops/gather/index_tuples.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct GatherND {
  int64_t batch_dims = 0;
  template <class V> void Visit(V& v) {
    v("batch_dims", batch_dims, "number of leading dims that x and indices have in common");
  }
};

// Returns the shape of y: indices.dims[:-1] + x.dims[batch_dims + width:], where width = indices.dims[-1].
Result<Shape> OutShape(const GatherND& op, const Shape& x, const Shape& indices) {
  if (x.rank() < 1 || indices.rank() < 1) return InvalidModel("x and indices must have rank 1 or more");
  const int64_t batch = op.batch_dims;
  if (batch < 0 || batch >= std::min(x.rank(), indices.rank()))
    return InvalidModel("batch_dims is ", batch,
                        ", but must be at least 0 and below the ranks of x and indices, ", x.rank(), " and ",
                        indices.rank());
  for (int i = 0; i < batch; ++i)
    if (x[i].known() && indices[i].known() && x[i] != indices[i])
      return InvalidModel("batch dimension ", i, " is ", x[i].value(), " in x and ", indices[i].value(),
                          " in indices");
  if (!indices[-1].known()) return Shape();
  const int64_t width = indices[-1].value();
  if (width < 1 || batch + width > x.rank())
    return InvalidModel("index tuples have length ", width, ", but x has rank ", x.rank(),
                        " and batch_dims is ", batch);
  std::vector<Dim> dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), x.dims.begin() + batch + width, x.dims.end());
  return Shape(std::move(dims));
}

Status Infer(const GatherND& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &indices = c.ShapeOf("indices");
  Shape y;
  if (x.ranked && indices.ranked) {
    TERN_ASSIGN(y, OutShape(op, x, indices));
  }
  c.Out("y", c.TypeOf("x"), std::move(y));
  return {};
}

Status Reference(const GatherND& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &indices = c.In("indices");
  TERN_ASSIGN(const Shape shape, OutShape(op, Shape::Of(x.dims()), Shape::Of(indices.dims())));
  TERN_ASSIGN(const auto offsets, TupleOffsets(indices, x.dims(), static_cast<int>(op.batch_dims)));
  const int64_t slice = CountBetween(x.dims(), static_cast<int>(op.batch_dims + indices.dim(-1)), x.rank());
  Tensor& y = c.Out("y", shape.Concrete());
  for (size_t i = 0; i < offsets.size(); ++i)
    CopyRun(x, offsets[i], y, static_cast<int64_t>(i) * slice, slice);
  return {};
}

}  // namespace

TERN_OP(GatherND) {
  return OpDef::Of<GatherND>(
             "the slices of x that index tuples select; each vector along the last axis of indices is a tuple")
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
