// MaxUnpool: writes maxima back to the positions where MaxPool found them.
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/support/operands.h"
#include "ops/support/window.h"

namespace tern {
namespace {

struct MaxUnpool {
  std::vector<int64_t> kernel, strides, pads;
  template <class V> void Visit(V& v) {
    v("kernel", kernel, "window size of the pooling, one per spatial axis");
    v("strides", strides, "strides of the pooling; empty means 1");
    v("pads", pads,
      "pads of the pooling at the start of each spatial axis, then at the end of each; empty means 0");
  }
};

// Returns the shape of the pooling's input. The indices are flat positions in this shape.
Result<Shape> UnpooledShape(const MaxUnpool& op, const Shape& x) {
  if (op.kernel.empty()) return InvalidModel("kernel is empty");
  TERN_TRY(CheckKernel(std::vector<Dim>(op.kernel.begin(), op.kernel.end())));
  TERN_ASSIGN(Window window,
              MakeWindow(static_cast<int>(op.kernel.size()), op.strides, op.pads, {}, AutoPad::kNone));
  if (!x.ranked) return Shape(std::vector<Dim>(op.kernel.size() + 2));
  if (x.dims.size() != op.kernel.size() + 2)
    return InvalidModel("kernel has ", op.kernel.size(), " numbers, so x must have rank ",
                        op.kernel.size() + 2, ", got ", x.ToString());
  Shape y = x;
  for (size_t i = 0; i < op.kernel.size(); ++i) {
    const WindowAxis& a = window.axes[i];
    const Dim size = (x.dims[i + 2] - 1) * a.stride + op.kernel[i] - (a.begin + a.end);
    if (size.known() && size.value() < 0)
      return InvalidModel("spatial axis ", i, ": pads ", a.begin, " and ", a.end, " leave no space for ",
                          x.dims[i + 2].value(), " windows");
    y.dims[i + 2] = size;
  }
  return y;
}

Status Infer(const MaxUnpool& op, InferContext& c) {
  TERN_ASSIGN(Shape y, UnpooledShape(op, c.ShapeOf("x")));
  const Shape &x = c.ShapeOf("x"), &indices = c.ShapeOf("indices");
  bool same = !x.ranked || !indices.ranked || x.rank() == indices.rank();
  for (int i = 0; same && x.ranked && indices.ranked && i < x.rank(); ++i) same = !Differ(x[i], indices[i]);
  if (!same)
    return InvalidModel("x ", x.ToString(), " and indices ", indices.ToString(), " must have the same shape");
  if (c.Has("output_shape")) {
    const auto wanted = c.ContentOf("output_shape");
    if (wanted && wanted->size() != y.dims.size())
      return InvalidModel("output_shape has ", wanted->size(), " numbers, but needs ", y.dims.size());
    for (size_t i = 0; i < y.dims.size(); ++i) {
      const Dim given = wanted ? (*wanted)[i] : Dim();
      if (given.known() && (given.value() < 0 || (y.dims[i].known() && given.value() < y.dims[i].value())))
        return InvalidModel("output_shape[", i, "] is ", given.value(),
                            ", which is less than the unpooled size ", y.dims[i].ToString());
      y.dims[i] = given;
    }
  }
  c.Out("y", c.TypeOf("x"), std::move(y));
  return {};
}

Status Reference(const MaxUnpool& op, EvalContext& c) {
  TERN_ASSIGN(Shape unpooled, UnpooledShape(op, Shape::Of(c.In("x").dims())));
  const Dims inner = unpooled.Concrete();
  const Dims dims = c.Has("output_shape") ? Dims(c.Longs("output_shape")) : inner;
  const auto x = c.Doubles("x");
  const auto indices = c.Longs("indices");
  const int64_t count = CountOf(inner);
  std::vector<double> y(static_cast<size_t>(CountOf(dims)), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t remaining = indices[i], at = 0, step = 1;
    if (remaining < 0 || remaining >= count)
      return InvalidArgument("indices[", i, "] is ", remaining, ", which is outside [0, ", count, ")");
    for (size_t k = dims.size(); k-- > 0; remaining /= inner[k], step *= dims[k])
      at += remaining % inner[k] * step;
    y[static_cast<size_t>(at)] = x[i];
  }
  c.Out("y", dims, y);
  return {};
}

}  // namespace

TERN_OP(MaxUnpool) {
  return OpDef::Of<MaxUnpool>(
             "zeros, with the elements of x written at `indices`, which are flat positions in the shape before pooling; a larger output_shape adds zeros at the ends")
      .In("x", kRealFloats)
      .Setting("indices", SetOf(DType::kI64))
      .OptSetting("output_shape", SetOf(DType::kI64))
      .Out("y", kRealFloats)
      .Flops(No{"copies only"})
      .Batch(kNoKernel)
      .Axes(No{"the indices depend on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
