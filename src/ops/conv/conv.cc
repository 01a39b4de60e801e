// Conv: cross-correlation over [N, C, spatial…].
#include <algorithm>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/support/epilogue.h"
#include "ops/support/spread.h"
#include "ops/support/window.h"

namespace tern {
namespace {

struct Conv {
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
  AutoPad auto_pad = AutoPad::kNone;
  EpilogueAttrs epilogue;
  template <class V> void Visit(V& v) {
    v("strides", strides, "one per spatial axis; empty: 1");
    v("pads", pads, "all begins, then all ends; negative crops; empty: 0");
    v("dilations", dilations, "one per spatial axis; empty: 1");
    v("group", group, "channels are convolved in this many separate groups");
    v.Enum("auto_pad", auto_pad, kAutoPadNames, "how pads follow from sizes; `none`: as given");
    epilogue.Visit(v);
  }
};

std::vector<Dim> Spatial(const Shape& s) { return {s.dims.begin() + 2, s.dims.end()}; }

Status CheckShapes(const Conv& op, const Shape& x, const Shape& w) {
  if (op.group < 1) return InvalidModel("group is ", op.group, ", needs at least 1");
  for (const auto& [name, s] : {std::pair("x", &x), std::pair("w", &w)})
    if (s->ranked && s->rank() < 3)
      return InvalidModel("input '", name, "' must have rank 3 or more, got ", s->ToString());
  if (w.ranked && w[0].known() && w[0].value() % op.group)
    return InvalidModel("group ", op.group, " does not divide the ", w[0].value(), " output channels");
  if (!x.ranked || !w.ranked) return {};
  if (x.rank() != w.rank()) return InvalidModel("ranks differ: x ", x.ToString(), ", w ", w.ToString());
  if (Differ(x[1], w[1] * op.group))
    return InvalidModel("x has ", x[1].value(), " channels, w expects ", w[1].value(), " in each of ",
                        op.group, " group(s)");
  return {};
}

Result<Shape> OutputShape(const Conv& op, const Shape& x, const Shape& w) {
  TERN_TRY(CheckShapes(op, x, w));
  if (!x.ranked && !w.ranked) return Shape();
  const int rank = std::max(x.rank(), w.rank());
  TERN_ASSIGN(Window window, MakeWindow(rank - 2, op.strides, op.pads, op.dilations, op.auto_pad));
  std::vector<Dim> out(static_cast<size_t>(rank));
  if (x.ranked) out[0] = x[0];
  if (w.ranked) {
    TERN_TRY(CheckKernel(Spatial(w)));
    out[1] = w[0];
  }
  for (int i = 2; i < rank; ++i) {
    const Dim input = x.ranked ? x[i] : Dim(), kernel = w.ranked ? w[i] : Dim();
    TERN_ASSIGN(out[static_cast<size_t>(i)], Positions(window, i - 2, input, kernel));
  }
  return Shape(std::move(out));
}

Status Infer(const Conv& op, InferContext& c) {
  TERN_ASSIGN(Shape y, OutputShape(op, c.ShapeOf("x"), c.ShapeOf("w")));
  TERN_ASSIGN(DType type, ProductType(c.TypeOf("x"), c.TypeOf("w")));
  TERN_TRY(CheckVector(c, "bias", y.ranked ? y[1] : Dim()));
  if (c.Has("bias")) TERN_TRY(CheckTermType(c, "bias", type));
  TERN_TRY(InferEpilogue(op.epilogue, c, y, type));
  c.Out("y", type, std::move(y));
  return {};
}

struct Plane {  // spatial sizes of one channel
  Dims input, kernel, output;
  Window window;
  int64_t input_size, kernel_size, output_size;
};

// y += w ⋆ x for one input and one output channel. The inner loop runs along the last spatial axis.
template <class T> void ConvolveChannel(const Plane& p, const T* x, const T* w, T* y) {
  const int outer = static_cast<int>(p.input.size()) - 1;
  const size_t last = static_cast<size_t>(outer);
  const WindowAxis& along = p.window.axes[last];
  Dims tap(p.input.size(), 0), place(p.input.size(), 0);
  do {
    const T factor = *w++;
    const int64_t shift = tap[last] * along.dilation - along.begin;
    const TapRange range = ValidOutputs(along, tap[last] * along.dilation, p.input[last], p.output[last]);
    std::fill(place.begin(), place.end(), 0);
    T* row = y;
    do {
      int64_t start = 0;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const WindowAxis& a = p.window.axes[i];
        const int64_t at = place[i] * a.stride + tap[i] * a.dilation - a.begin;
        inside = inside && at >= 0 && at < p.input[i];
        start = start * p.input[i] + at;
      }
      if (inside) {
        const T* from = x + start * p.input[last] + shift;
        for (int64_t o = range.first; o < range.last; ++o) row[o] += factor * from[o * along.stride];
      }
      row += p.output[last];
    } while (NextIndex(place, p.output, outer));
  } while (NextIndex(tap, p.kernel, outer + 1));
}

template <class T>
std::vector<T> Convolve(const Conv& op, const Plane& p, const Dims& dx, const Dims& dw,
                        const std::vector<T>& x, const std::vector<T>& w) {
  const int64_t channels = dx[1], maps = dw[0], group_channels = dw[1], group_maps = maps / op.group;
  std::vector<T> y(static_cast<size_t>(dx[0] * maps * p.output_size), T{0});
  if (y.empty() || x.empty()) return y;
  for (int64_t n = 0; n < dx[0]; ++n)
    for (int64_t m = 0; m < maps; ++m)
      for (int64_t k = 0; k < group_channels; ++k) {
        const int64_t channel = m / group_maps * group_channels + k;
        ConvolveChannel(p, x.data() + (n * channels + channel) * p.input_size,
                        w.data() + (m * group_channels + k) * p.kernel_size,
                        y.data() + (n * maps + m) * p.output_size);
      }
  return y;
}

template <class T> void AddBias(std::vector<T>& y, const std::vector<T>& bias, int64_t plane) {
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i / static_cast<size_t>(plane) % bias.size()];
}

std::vector<uint64_t> Wrapping(const Tensor& t) {
  const auto longs = ToLongs(t);
  return {longs.begin(), longs.end()};
}

Status Reference(const Conv& op, EvalContext& c) {
  const Dims &dx = c.In("x").dims(), &dw = c.In("w").dims();
  TERN_ASSIGN(Shape shape, OutputShape(op, Shape::Of(dx), Shape::Of(dw)));
  const Dims dy = shape.Concrete();
  TERN_ASSIGN(Window window,
              MakeWindow(static_cast<int>(dx.size()) - 2, op.strides, op.pads, op.dilations, op.auto_pad));
  Plane p{Dims(dx.begin() + 2, dx.end()),
          Dims(dw.begin() + 2, dw.end()),
          Dims(dy.begin() + 2, dy.end()),
          {},
          0,
          0,
          0};
  p.window = ResolvePads(std::move(window), p.input, p.kernel);
  p.input_size = CountOf(p.input), p.kernel_size = CountOf(p.kernel), p.output_size = CountOf(p.output);
  if (IsFloat(c.OutType("y"))) {
    auto y = Convolve(op, p, dx, dw, c.Doubles("x"), c.Doubles("w"));
    if (c.Has("bias")) AddBias(y, c.Doubles("bias"), p.output_size);
    ApplyEpilogue(op.epilogue, c, dy, y);
    c.Out("y", dy, y);
  } else {
    auto y = Convolve(op, p, dx, dw, Wrapping(c.In("x")), Wrapping(c.In("w")));
    if (c.Has("bias")) AddBias(y, Wrapping(c.In("bias")), p.output_size);
    ApplyEpilogue(op.epilogue, c, dy, y);
    c.OutLongs("y", dy, {y.begin(), y.end()});
  }
  return {};
}

}  // namespace

TERN_OP(Conv) {
  return OpDef::Of<Conv>(
             "y = activation(x ⋆ w + bias + residual): convolution of x [N, C, spatial…] with w [M, C/group, kernel…]; integers narrower than 32 bits give i32")
      .In("x", kNumbers)
      .In("w", kNumbers)
      .OptIn("bias", kNumbers)
      .OptIn("residual", kNumbers)
      .Out("y", kNumbers)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
