// ScatterND: a copy of x with slices updated at positions given by index tuples.
#include "ops/gather/index_tuples.h"
#include "ops/gather/reduction.h"

namespace tern {
namespace {

struct ScatterND {
  ScatterReduction reduction = ScatterReduction::kNone;
  template <class V> void Visit(V& v) { VisitReduction(v, reduction); }
};

// updates.dims must be indices.dims[:-1] + x.dims[width:], where width = indices.dims[-1].
Status CheckDims(const Shape& x, const Shape& indices, const Shape& updates) {
  if (x.rank() < 1 || indices.rank() < 1) return InvalidModel("x and indices must have rank 1 or more");
  if (!indices[-1].known()) return {};
  const int64_t width = indices[-1].value();
  if (width > x.rank())
    return InvalidModel("index tuples have length ", width, ", but x has rank ", x.rank());
  std::vector<Dim> wanted(indices.dims.begin(), indices.dims.end() - 1);
  wanted.insert(wanted.end(), x.dims.begin() + width, x.dims.end());
  bool fits = !updates.ranked || updates.dims.size() == wanted.size();
  for (size_t i = 0; fits && i < updates.dims.size(); ++i)
    fits = !wanted[i].known() || !updates.dims[i].known() || wanted[i] == updates.dims[i];
  if (!fits) return InvalidModel("updates must be ", Shape(wanted).ToString(), ", got ", updates.ToString());
  return {};
}

Status Infer(const ScatterND& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &indices = c.ShapeOf("indices");
  TERN_TRY(CheckReducible(op.reduction, c.TypeOf("x")));
  if (c.TypeOf("x") != c.TypeOf("updates") && c.TypeOf("updates") != DType::kInvalid &&
      c.TypeOf("x") != DType::kInvalid)
    return InvalidModel("x is ", DTypeName(c.TypeOf("x")), ", but updates is ",
                        DTypeName(c.TypeOf("updates")));
  if (x.ranked && indices.ranked) TERN_TRY(CheckDims(x, indices, c.ShapeOf("updates")));
  c.Out("y", c.In("x"));
  return {};
}

Status Reference(const ScatterND& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &indices = c.In("indices"), &updates = c.In("updates");
  TERN_ASSIGN(const auto offsets, TupleOffsets(indices, x.dims(), 0));
  const int64_t slice = CountBetween(x.dims(), static_cast<int>(indices.dim(-1)), x.rank());
  Tensor y = x.Clone();
  for (size_t i = 0; i < offsets.size(); ++i)
    ScatterRun(op.reduction, updates, static_cast<int64_t>(i) * slice, y, offsets[i], slice);
  c.SetOut("y", std::move(y));
  return {};
}

}  // namespace

TERN_OP(ScatterND) {
  return OpDef::Of<ScatterND>(
             "a copy of x in which updates replace the slices that index tuples select, or are combined with them")
      .In("x", kAnyType)
      .Setting("indices", kIndices)
      .In("updates", kAnyType)
      .Out("y", kAnyType)
      .Traits(kPure | kInPlace)
      .Flops(No{"depends on the reduction"})
      .Batch(No{"an index may refer to any item"})
      .Axes(No{"the indices depend on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
