// ConvTranspose: the gradient of a convolution with respect to its input, used as a layer.
#include <algorithm>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/support/epilogue.h"
#include "ops/support/spread.h"
#include "ops/support/window.h"

namespace tern {
namespace {

struct ConvTranspose {
  std::vector<int64_t> strides, pads, dilations, output_padding, output_shape;
  int64_t group = 1;
  AutoPad auto_pad = AutoPad::kNone;
  EpilogueAttrs epilogue;
  template <class V> void Visit(V& v) {
    v("strides", strides, "one per spatial axis; empty: 1");
    v("pads", pads, "cut from the result: all begins, then all ends; empty: 0");
    v("dilations", dilations, "one per spatial axis; empty: 1");
    v("output_padding", output_padding, "added at the end of each spatial axis; empty: 0");
    v("output_shape", output_shape,
      "the result's spatial sizes, from which pads follow; empty: sizes follow from pads");
    v("group", group, "channels are convolved in this many separate groups");
    v.Enum("auto_pad", auto_pad, kAutoPadNames, "how pads follow from sizes; `none`: as given");
    epilogue.Visit(v);
  }
};

Status CheckSizes(const char* name, const std::vector<int64_t>& list, int rank, int64_t least) {
  if (!list.empty() && static_cast<int>(list.size()) != rank)
    return InvalidModel(name, " has ", list.size(), " numbers, needs ", rank);
  for (int64_t v : list)
    if (v < least || v >= int64_t{1} << 31)
      return InvalidModel(name, " [", Join(list, ", "), "]: ", v, " is outside [", least, ", 2^31)");
  return {};
}

Status CheckShapes(const ConvTranspose& op, const Shape& x, const Shape& w) {
  if (op.group < 1) return InvalidModel("group is ", op.group, ", needs at least 1");
  for (const auto& [name, s] : {std::pair("x", &x), std::pair("w", &w)})
    if (s->ranked && s->rank() < 3)
      return InvalidModel("input '", name, "' must have rank 3 or more, got ", s->ToString());
  if (w.ranked && w[0].known() && w[0].value() % op.group)
    return InvalidModel("group ", op.group, " does not divide the ", w[0].value(), " input channels");
  if (!x.ranked || !w.ranked) return {};
  if (x.rank() != w.rank()) return InvalidModel("ranks differ: x ", x.ToString(), ", w ", w.ToString());
  if (Differ(x[1], w[0])) return InvalidModel("x has ", x[1].value(), " channels, w ", w[0].value());
  return {};
}

int64_t At(const std::vector<int64_t>& list, size_t i, int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

bool Same(const ConvTranspose& op) {
  return op.auto_pad == AutoPad::kSameUpper || op.auto_pad == AutoPad::kSameLower;
}

// Sizes before anything is cut.
Dim FullSize(const ConvTranspose& op, const Window& window, size_t axis, const Dim& input,
             const Dim& kernel) {
  const WindowAxis& a = window.axes[axis];
  return (input - 1) * a.stride + At(op.output_padding, axis, 0) + Extent(a, kernel);
}

Result<Dim> OutputSize(const ConvTranspose& op, const Window& window, size_t axis, const Dim& input,
                       const Dim& kernel) {
  const WindowAxis& a = window.axes[axis];
  if (!op.output_shape.empty()) return Dim(op.output_shape[axis]);
  if (Same(op)) return input * a.stride;
  const Dim size = FullSize(op, window, axis, input, kernel) - (a.begin + a.end);
  if (size.known() && size.value() < 0)
    return InvalidModel("spatial axis ", axis, ": pads ", a.begin, " and ", a.end,
                        " cut more than the whole result, which has ",
                        FullSize(op, window, axis, input, kernel).value(), " elements");
  return size;
}

Result<Window> WindowOf(const ConvTranspose& op, int rank) {
  TERN_TRY(CheckSizes("output_padding", op.output_padding, rank, 0));
  TERN_TRY(CheckSizes("output_shape", op.output_shape, rank, 0));
  return MakeWindow(rank, op.strides, op.pads, op.dilations, op.auto_pad);
}

Result<Shape> OutputShape(const ConvTranspose& op, const Shape& x, const Shape& w) {
  TERN_TRY(CheckShapes(op, x, w));
  if (!x.ranked && !w.ranked) return Shape();
  const int rank = std::max(x.rank(), w.rank());
  TERN_ASSIGN(Window window, WindowOf(op, rank - 2));
  std::vector<Dim> out(static_cast<size_t>(rank));
  if (x.ranked) out[0] = x[0];
  if (w.ranked) {
    TERN_TRY(CheckKernel(std::vector<Dim>(w.dims.begin() + 2, w.dims.end())));
    out[1] = w[1] * op.group;
  }
  for (int i = 2; i < rank; ++i) {
    const size_t axis = static_cast<size_t>(i) - 2;
    TERN_ASSIGN(out[static_cast<size_t>(i)],
                OutputSize(op, window, axis, x.ranked ? x[i] : Dim(), w.ranked ? w[i] : Dim()));
  }
  return Shape(std::move(out));
}

Status Infer(const ConvTranspose& op, InferContext& c) {
  TERN_ASSIGN(Shape y, OutputShape(op, c.ShapeOf("x"), c.ShapeOf("w")));
  TERN_TRY(CheckVector(c, "bias", y.ranked ? y[1] : Dim()));
  DType type = c.TypeOf("x");
  for (const char* port : {"w", "bias"})
    if (c.Has(port)) TERN_TRY(CheckTermType(c, port, type));
  TERN_TRY(InferEpilogue(op.epilogue, c, y, type));
  c.Out("y", type, std::move(y));
  return {};
}

// When the size is given, what is too much is cut on both sides; what is missing is added at the end.
void ResolveCuts(const ConvTranspose& op, Window& window, const Dims& input, const Dims& kernel,
                 const Dims& output) {
  if (op.output_shape.empty() && !Same(op)) return;
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const int64_t total =
        std::max<int64_t>(0, FullSize(op, window, i, input[i], kernel[i]).value() - output[i]);
    window.axes[i].begin = op.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    window.axes[i].end = total - window.axes[i].begin;
  }
}

struct Plane {  // spatial sizes of one channel
  Dims input, kernel, output;
  Window window;
};

// Spreads one input channel over one output channel; the inner loop runs along the last spatial axis.
void SpreadChannel(const Plane& p, const double* x, const double* w, double* y) {
  const int outer = static_cast<int>(p.input.size()) - 1;
  const size_t last = static_cast<size_t>(outer);
  const WindowAxis& along = p.window.axes[last];
  Dims tap(p.input.size(), 0), place(p.input.size(), 0);
  do {
    const double factor = *w++;
    const TapRange range = ValidOutputs(along, tap[last] * along.dilation, p.output[last], p.input[last]);
    const int64_t shift = tap[last] * along.dilation - along.begin;
    std::fill(place.begin(), place.end(), 0);
    const double* row = x;
    do {
      int64_t start = 0;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const WindowAxis& a = p.window.axes[i];
        const int64_t at = place[i] * a.stride + tap[i] * a.dilation - a.begin;
        inside = inside && at >= 0 && at < p.output[i];
        start = start * p.output[i] + at;
      }
      double* to = y + (inside ? start * p.output[last] : 0) + shift;
      for (int64_t i = range.first; inside && i < range.last; ++i) to[i * along.stride] += factor * row[i];
      row += p.input[last];
    } while (NextIndex(place, p.input, outer));
  } while (NextIndex(tap, p.kernel, outer + 1));
}

Status Reference(const ConvTranspose& op, EvalContext& c) {
  const Dims &dx = c.In("x").dims(), &dw = c.In("w").dims();
  TERN_ASSIGN(Shape shape, OutputShape(op, Shape::Of(dx), Shape::Of(dw)));
  TERN_ASSIGN(Window window, WindowOf(op, static_cast<int>(dx.size()) - 2));
  const Dims dy = shape.Concrete();
  Plane p{Dims(dx.begin() + 2, dx.end()), Dims(dw.begin() + 2, dw.end()), Dims(dy.begin() + 2, dy.end()),
          std::move(window)};
  ResolveCuts(op, p.window, p.input, p.kernel, p.output);
  const int64_t channels = dx[1], maps = dw[1], group_channels = channels / op.group;
  const int64_t from = CountOf(p.input), taps = CountOf(p.kernel), to = CountOf(p.output);
  const auto x = c.Doubles("x"), w = c.Doubles("w");
  std::vector<double> y(static_cast<size_t>(CountOf(dy)), 0);
  for (int64_t n = 0; !x.empty() && !y.empty() && n < dx[0]; ++n)
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t m = 0; m < maps; ++m)
        SpreadChannel(p, x.data() + (n * channels + k) * from, w.data() + (k * maps + m) * taps,
                      y.data() + ((n * op.group + k / group_channels) * maps + m) * to);
  if (c.Has("bias")) {
    const auto bias = c.Doubles("bias");
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i / static_cast<size_t>(to) % bias.size()];
  }
  ApplyEpilogue(op.epilogue, c, dy, y);
  c.Out("y", dy, y);
  return {};
}

}  // namespace

TERN_OP(ConvTranspose) {
  return OpDef::Of<ConvTranspose>(
             "each element of x [N, C, spatial…] adds w [C, M/group, kernel…] times itself to the sums; y = activation(sums + bias + residual)")
      .In("x", kRealFloats)
      .In("w", kRealFloats)
      .OptIn("bias", kRealFloats)
      .OptIn("residual", kRealFloats)
      .Out("y", kRealFloats)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
