// Expand: broadcasts a tensor against a shape, as in numpy.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Expand : NoAttrs {};

Status CheckTarget(const Content& shape) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i].known() && shape[i].value() < 0)
      return InvalidModel("shape[", i, "] is ", shape[i].value(), ", but must not be negative");
  return {};
}

Status Infer(const Expand&, InferContext& c) {
  TERN_TRY(RequireVector(c, "shape"));
  Shape target;
  if (auto content = c.ContentOf("shape")) {
    TERN_TRY(CheckTarget(*content));
    target = Shape(*content);
  } else if (const int n = KnownLength(c.ShapeOf("shape")); n >= 0) {
    target = Shape(std::vector<Dim>(static_cast<size_t>(n)));
  }
  TERN_ASSIGN(Shape y, BroadcastShapes(c.ShapeOf("x"), target));
  const auto content = c.ContentOf("x");
  if (content && content->size() == 1 && y.rank() == 0) c.OutContent("y", *content);
  if (content && y.rank() == 1 && y[0].known() && y[0].value() <= 1024)
    c.OutContent("y",
                 content->size() == 1 ? Content(static_cast<size_t>(y[0].value()), (*content)[0]) : *content);
  c.Out("y", c.TypeOf("x"), std::move(y));
  return {};
}

Status Reference(const Expand&, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto longs = c.Longs("shape");
  TERN_TRY(CheckTarget(Content(longs.begin(), longs.end())));
  TERN_ASSIGN(const Shape shape, BroadcastShapes(Shape::Of(x.dims()), Shape::Of(longs)));
  const Dims dims = shape.Concrete(), from = ContiguousStrides(x.dims());
  Dims strides(dims.size(), 0);
  const size_t skip = dims.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) strides[skip + i] = x.dims()[i] == 1 ? 0 : from[i];
  Tensor& y = c.Out("y", dims);
  CopyElements(x, {0, strides}, y, {0, ContiguousStrides(dims)}, dims);
  return {};
}

}  // namespace

TERN_OP(Expand) {
  return OpDef::Of<Expand>("x broadcast against shape")
      .In("x", kAnyType)
      .Setting("shape", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kMore}, No{"elements are repeated"})
      .Batch(No{"the outermost dim may be expanded"})
      .Axes(No{"the target shape lists all dims"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
