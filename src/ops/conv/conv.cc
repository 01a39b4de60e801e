// Conv: cross-correlation over [N, C, spatial…].
#include <algorithm>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/conv/conv_shapes.h"
#include "ops/support/channels_last.h"
#include "ops/support/epilogue.h"

namespace tern {
namespace {

struct Conv : ConvAttrs, ChannelOrder {
  EpilogueAttrs epilogue;
  template <class V> void Visit(V& v) {
    VisitWindow(
        v,
        "pads at the start of each spatial axis, then at the end of each; a negative pad crops; empty means 0");
    VisitGroup(v);
    VisitChannels(v);
    epilogue.Visit(v);
  }
};

// Returns the shape of y. x and y are in the order [N, C, spatial…].
Result<Shape> OutputShape(const Conv& op, const Shape& x, const Shape& w) {
  TERN_TRY(CheckConvShapes(op.group, x, w, "output"));
  TERN_TRY(CheckGroupChannels(op.group, x, w));
  if (!x.ranked && !w.ranked) return Shape();
  const int rank = std::max(x.rank(), w.rank());
  TERN_ASSIGN(Window window, MakeWindow(rank - 2, op.strides, op.pads, op.dilations, op.auto_pad));
  std::vector<Dim> out(static_cast<size_t>(rank));
  if (x.ranked) out[0] = x[0];
  if (w.ranked) {
    TERN_TRY(CheckKernel({w.dims.begin() + 2, w.dims.end()}));
    out[1] = w[0];
  }
  for (int i = 2; i < rank; ++i) {
    const Dim input = x.ranked ? x[i] : Dim(), kernel = w.ranked ? w[i] : Dim();
    TERN_ASSIGN(out[static_cast<size_t>(i)], Positions(window, i - 2, input, kernel));
  }
  return Shape(std::move(out));
}

Status Infer(const Conv& op, InferContext& c) {
  TERN_ASSIGN(Shape y, OutputShape(op, op.ToChannelsFirst(c.ShapeOf("x")), c.ShapeOf("w")));
  TERN_ASSIGN(DType type, ProductType(c.TypeOf("x"), c.TypeOf("w")));
  TERN_TRY(CheckVector(c, "bias", y.ranked ? y[1] : Dim()));
  if (c.Has("bias")) TERN_TRY(CheckTermType(c, "bias", type));
  y = op.ToOwnLayout(y);
  TERN_TRY(InferEpilogue(op.epilogue, c, y, type));
  c.Out("y", type, std::move(y));
  return {};
}

// Computes y += w ⋆ x for one input and one output channel.
template <class T> void ConvolveChannel(const Plane& p, const Window& window, const T* x, const T* w, T* y) {
  const int64_t stride = window.axes.back().stride, width = p.output.back();
  ForEachTapRow(window, p.kernel, p.output, p.input, [&](const TapRow& at) {
    const T factor = w[at.tap];
    for (int64_t o = at.range.first; o < at.range.last; ++o)
      y[at.row * width + o] += factor * x[at.start + o * stride];
  });
}

template <class T>
std::vector<T> Convolve(const Conv& op, const Plane& p, const Window& window, const Dims& dx, const Dims& dw,
                        const std::vector<T>& x, const std::vector<T>& w) {
  const int64_t channels = dx[1], output_channels = dw[0], group_channels = dw[1],
                group_outputs = output_channels / op.group;
  std::vector<T> y(static_cast<size_t>(dx[0] * output_channels * p.output_size), T{0});
  if (y.empty() || x.empty()) return y;
  for (int64_t n = 0; n < dx[0]; ++n)
    for (int64_t m = 0; m < output_channels; ++m)
      for (int64_t k = 0; k < group_channels; ++k) {
        const int64_t channel = m / group_outputs * group_channels + k;
        ConvolveChannel(p, window, x.data() + (n * channels + channel) * p.input_size,
                        w.data() + (m * group_channels + k) * p.kernel_size,
                        y.data() + (n * output_channels + m) * p.output_size);
      }
  return y;
}

// Returns the elements as unsigned integers, which wrap on overflow.
std::vector<uint64_t> Wrapping(const Tensor& t) {
  const auto longs = ToLongs(t);
  return {longs.begin(), longs.end()};
}

Status Reference(const Conv& op, EvalContext& c) {
  const Dims dx = op.ToChannelsFirst(c.In("x").dims()), &dw = c.In("w").dims();
  TERN_ASSIGN(Shape shape, OutputShape(op, Shape::Of(dx), Shape::Of(dw)));
  const Dims dy = shape.Concrete(), own = op.ToOwnLayout(dy);
  TERN_ASSIGN(Window window,
              MakeWindow(static_cast<int>(dx.size()) - 2, op.strides, op.pads, op.dilations, op.auto_pad));
  const Plane p(dx, dw, dy);
  window = ResolvePads(std::move(window), p.input, p.kernel);
  if (IsFloat(c.OutType("y"))) {
    auto y = Convolve(op, p, window, dx, dw, op.ValuesToChannelsFirst(c.Doubles("x"), dx), c.Doubles("w"));
    if (c.Has("bias")) AddBias(y, c.Doubles("bias"), p.output_size);
    y = op.ValuesToOwnLayout(std::move(y), dy);
    ApplyEpilogue(op.epilogue, c, own, y);
    c.Out("y", own, y);
  } else {
    auto y = Convolve(op, p, window, dx, dw, op.ValuesToChannelsFirst(Wrapping(c.In("x")), dx),
                      Wrapping(c.In("w")));
    if (c.Has("bias")) AddBias(y, Wrapping(c.In("bias")), p.output_size);
    y = op.ValuesToOwnLayout(std::move(y), dy);
    ApplyEpilogue(op.epilogue, c, own, y);
    c.OutLongs("y", own, {y.begin(), y.end()});
  }
  return {};
}

}  // namespace

TERN_OP(Conv) {
  return OpDef::Of<Conv>(
             "y = activation(x ⋆ w + bias + residual): convolution of x [N, C, spatial…] with w [M, C/group, kernel…]; y is i32 if x and w are integers of less than 32 bits")
      .In("x", kNumbers)
      .Weight("w", kNumbers)
      .OptIn("bias", kNumbers)
      .OptIn("residual", kNumbers)
      .Out("y", kNumbers)
      .Traits(kPure | kEpilogue)
      .Macs(ConvMacs(1))
      .Flops(EpilogueFlops)
      .Batch(&BatchItems::WithEpilogue)
      .TypicalDims(TypicalImage)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
