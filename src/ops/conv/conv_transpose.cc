// ConvTranspose: the gradient of a convolution with respect to its input, used as a layer.
#include <algorithm>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/graph.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/conv/conv_shapes.h"
#include "ops/support/channels_last.h"
#include "ops/support/epilogue.h"

namespace tern {
namespace {

struct ConvTranspose : ConvAttrs, ChannelOrder {
  std::vector<int64_t> output_padding, output_shape;
  EpilogueAttrs epilogue;
  template <class V> void Visit(V& v) {
    VisitWindow(
        v,
        "elements cropped from the result at the start of each spatial axis, then at the end of each; empty means 0");
    v("output_padding", output_padding,
      "number of elements added at the end of each spatial axis; empty means 0");
    v("output_shape", output_shape,
      "spatial sizes of the result, which determine the pads; empty means that the pads determine the sizes");
    VisitGroup(v);
    VisitChannels(v);
    epilogue.Visit(v);
  }
};

Status CheckSizes(const char* name, const std::vector<int64_t>& list, int rank, int64_t least) {
  if (!list.empty() && static_cast<int>(list.size()) != rank)
    return InvalidModel(name, " has ", list.size(), " numbers, but needs ", rank);
  for (int64_t v : list)
    if (v < least || v >= int64_t{1} << 31)
      return InvalidModel(name, " [", Join(list, ", "), "]: ", v, " is outside [", least, ", 2^31)");
  return {};
}

int64_t At(const std::vector<int64_t>& list, size_t i, int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

bool Same(const ConvTranspose& op) {
  return op.auto_pad == AutoPad::kSameUpper || op.auto_pad == AutoPad::kSameLower;
}

// Returns the size of a spatial axis of y before cropping.
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
                        " crop more than the entire result, which has ",
                        FullSize(op, window, axis, input, kernel).value(), " elements");
  return size;
}

Result<Window> WindowOf(const ConvTranspose& op, int rank) {
  TERN_TRY(CheckSizes("output_padding", op.output_padding, rank, 0));
  TERN_TRY(CheckSizes("output_shape", op.output_shape, rank, 0));
  return MakeWindow(rank, op.strides, op.pads, op.dilations, op.auto_pad);
}

// Returns the shape of y. x and y are in the order [N, C, spatial…].
Result<Shape> OutputShape(const ConvTranspose& op, const Shape& x, const Shape& w) {
  TERN_TRY(CheckConvShapes(op.group, x, w, "input"));
  if (x.ranked && w.ranked && Differ(x[1], w[0]))
    return InvalidModel("x has ", x[1].value(), " channels, but w has ", w[0].value());
  if (!x.ranked && !w.ranked) return Shape();
  const int rank = std::max(x.rank(), w.rank());
  TERN_ASSIGN(Window window, WindowOf(op, rank - 2));
  std::vector<Dim> out(static_cast<size_t>(rank));
  if (x.ranked) out[0] = x[0];
  if (w.ranked) {
    TERN_TRY(CheckKernel({w.dims.begin() + 2, w.dims.end()}));
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
  TERN_ASSIGN(Shape y, OutputShape(op, op.ToChannelsFirst(c.ShapeOf("x")), c.ShapeOf("w")));
  TERN_TRY(CheckVector(c, "bias", y.ranked ? y[1] : Dim()));
  DType type = c.TypeOf("x");
  for (const char* port : {"w", "bias"})
    if (c.Has(port)) TERN_TRY(CheckTermType(c, port, type));
  y = op.ToOwnLayout(y);
  TERN_TRY(InferEpilogue(op.epilogue, c, y, type));
  c.Out("y", type, std::move(y));
  return {};
}

// Computes the crops if output_shape or auto_pad determines the size of the result. If the full result is
// larger, elements are cropped at both ends. If it is smaller, zeros are added at the end.
void ResolveCrops(const ConvTranspose& op, Window& window, const Dims& input, const Dims& kernel,
                  const Dims& output) {
  if (op.output_shape.empty() && !Same(op)) return;
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const int64_t total =
        std::max<int64_t>(0, FullSize(op, window, i, input[i], kernel[i]).value() - output[i]);
    window.axes[i].begin = op.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    window.axes[i].end = total - window.axes[i].begin;
  }
}

void AccumulateChannel(const Plane& p, const Window& window, const double* x, const double* w, double* y) {
  const int64_t stride = window.axes.back().stride, width = p.input.back();
  ForEachTapRow(window, p.kernel, p.input, p.output, [&](const TapRow& at) {
    const double factor = w[at.tap];
    for (int64_t i = at.range.first; i < at.range.last; ++i)
      y[at.start + i * stride] += factor * x[at.row * width + i];
  });
}

Status Reference(const ConvTranspose& op, EvalContext& c) {
  const Dims dx = op.ToChannelsFirst(c.In("x").dims()), &dw = c.In("w").dims();
  TERN_ASSIGN(Shape shape, OutputShape(op, Shape::Of(dx), Shape::Of(dw)));
  TERN_ASSIGN(Window window, WindowOf(op, static_cast<int>(dx.size()) - 2));
  const Dims dy = shape.Concrete();
  const Plane p(dx, dw, dy);
  ResolveCrops(op, window, p.input, p.kernel, p.output);
  const int64_t channels = dx[1], group_outputs = dw[1], group_channels = channels / op.group;
  const auto x = op.ValuesToChannelsFirst(c.Doubles("x"), dx), w = c.Doubles("w");
  std::vector<double> y(static_cast<size_t>(CountOf(dy)), 0);
  for (int64_t n = 0; !x.empty() && !y.empty() && n < dx[0]; ++n)
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t m = 0; m < group_outputs; ++m)
        AccumulateChannel(
            p, window, x.data() + (n * channels + k) * p.input_size,
            w.data() + (k * group_outputs + m) * p.kernel_size,
            y.data() + ((n * op.group + k / group_channels) * group_outputs + m) * p.output_size);
  if (c.Has("bias")) AddBias(y, c.Doubles("bias"), p.output_size);
  y = op.ValuesToOwnLayout(std::move(y), dy);
  ApplyEpilogue(op.epilogue, c, op.ToOwnLayout(dy), y);
  c.Out("y", op.ToOwnLayout(dy), y);
  return {};
}

// Each input element takes (number of taps) * (number of output channels of its group) MACs.
std::optional<double> Macs(const Node& n) {
  const auto channels = DimOf(n.input(1), 0), weights = ElementsOf(n.input(1));
  if (!channels || !weights || *channels == 0) return std::nullopt;
  return Times(ElementsOf(n.input(0)), *weights / *channels);
}

}  // namespace

TERN_OP(ConvTranspose) {
  return OpDef::Of<ConvTranspose>(
             "y = activation(x ⋆ᵀ w + bias + residual): transposed convolution of x [N, C, spatial…] with w [C, M/group, kernel…]")
      .In("x", kRealFloats)
      .Weight("w", kRealFloats)
      .OptIn("bias", kRealFloats)
      .OptIn("residual", kRealFloats)
      .Out("y", kRealFloats)
      .Traits(kPure | kEpilogue)
      .Macs(Macs)
      .Flops(EpilogueFlops)
      .Batch(&BatchItems::WithEpilogue)
      .TypicalDims(TypicalImage)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
