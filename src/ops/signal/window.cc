// Window: the weights of a window function.
#include <cmath>
#include <numbers>

#include "ops/shape/axes.h"

namespace tern {
namespace {

enum class WindowKind { kHann, kHamming, kBlackman };

struct Window {
  WindowKind kind = WindowKind::kHann;
  bool periodic = true;
  DType dtype = DType::kF32;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"hann", "hamming", "blackman"}, "the window function");
    v("periodic", periodic, "compute the window for size + 1 elements and drop the last one");
    v("dtype", dtype, "the output's type");
  }
};

Status Infer(const Window& op, InferContext& c) {
  if (!IsNumeric(op.dtype)) return InvalidModel("cannot create a window of type ", DTypeName(op.dtype));
  Dim size;
  if (auto content = c.ContentOf("size")) {
    if (content->size() != 1) return InvalidModel("size must have one element, got ", content->size());
    size = (*content)[0];
    if (size.known() && size.value() < 0)
      return InvalidModel("size is ", size.value(), ", but must not be negative");
  }
  c.Out("y", op.dtype, Shape({size}));
  return {};
}

Status Reference(const Window& op, EvalContext& c) {
  const int64_t size = c.Longs("size").at(0);
  Tensor& y = c.Out("y", {size});
  // The curve is a0 - a1 cos t + a2 cos 2t over one period.
  struct Curve {
    double a0, a1, a2;
  };
  const Curve curve = op.kind == WindowKind::kHann      ? Curve{0.5, 0.5, 0}
                      : op.kind == WindowKind::kHamming ? Curve{25.0 / 46, 21.0 / 46, 0}
                                                        : Curve{0.42, 0.5, 0.08};
  const auto span = static_cast<double>(op.periodic ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) {
    const double t =
        2 * std::numbers::pi * static_cast<double>(i) / span;  // NaN for a single point, as ONNX defines it
    StoreDouble(y, i, curve.a0 - curve.a1 * std::cos(t) + curve.a2 * std::cos(2 * t));
  }
  return {};
}

}  // namespace

TERN_OP(Window) {
  return OpDef::Of<Window>("a window function of the given size")
      .Setting("size", kIndices)
      .Out("y", kNumbers)
      .Flops(No{"the result is a small table"})
      .Batch(No{"no input has items"})
      .Axes(No{"the result has one axis, and no operand has axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
