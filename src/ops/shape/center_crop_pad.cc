// CenterCropPad: crops a tensor or pads it with zeros, around its centre, to given dims.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct CenterCropPad {
  std::vector<int64_t> axes;
  template <class V> void Visit(V& v) { v("axes", axes, "the axes that shape refers to; empty means all"); }
};

Result<std::vector<int>> Axes(const CenterCropPad& op, int rank, size_t count) {
  std::vector<int64_t> list = op.axes;
  for (int i = 0; op.axes.empty() && i < rank; ++i) list.push_back(i);
  if (list.size() != count) return InvalidModel("shape has ", count, " entries for ", list.size(), " axes");
  return NormalizeAxes(list, rank);
}

Result<std::vector<Dim>> OutDims(const CenterCropPad& op, const Shape& x, const Content& shape) {
  TERN_ASSIGN(const auto axes, Axes(op, x.rank(), shape.size()));
  std::vector<Dim> dims = x.dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (shape[i].known() && shape[i].value() < 0)
      return InvalidModel("shape[", i, "] is ", shape[i].value(), ", but must not be negative");
    dims[static_cast<size_t>(axes[i])] = shape[i];
  }
  return dims;
}

Status Infer(const CenterCropPad& op, InferContext& c) {
  TERN_TRY(RequireVector(c, "shape"));
  const Shape& x = c.ShapeOf("x");
  Shape y = x.ranked ? Shape(std::vector<Dim>(x.dims.size())) : Shape();
  if (auto shape = c.ContentOf("shape"); shape && x.ranked) {
    TERN_ASSIGN(y.dims, OutDims(op, x, *shape));
  }
  c.Out("y", c.TypeOf("x"), std::move(y));
  return {};
}

Status Reference(const CenterCropPad& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto longs = c.Longs("shape");
  TERN_ASSIGN(const auto shape, OutDims(op, Shape::Of(x.dims()), Content(longs.begin(), longs.end())));
  const Dims dims = Shape(shape).Concrete(), from = ContiguousStrides(x.dims()), to = ContiguousStrides(dims);
  Tensor& y = c.Out("y", dims);
  ElementView source{0, from}, target{0, to};
  Dims common;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t extra = x.dims()[i] - dims[i];
    if (extra > 0)
      source.offset += extra / 2 * from[i];
    else
      target.offset += -extra / 2 * to[i];
    common.push_back(std::min(x.dims()[i], dims[i]));
  }
  CopyElements(x, source, y, target, common);
  return {};
}

}  // namespace

TERN_OP(CenterCropPad) {
  return OpDef::Of<CenterCropPad>(
             "x cropped or padded with zeros around its centre, so that its dims along axes become shape")
      .In("x", kAnyType)
      .Setting("shape", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kAny, .border = Movement::Border::kConstant},
             No{"the result may have a border"})
      .Batch(kNoKernel)
      .Axes(kNoKernel)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
