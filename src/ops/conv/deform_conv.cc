// DeformConv: a convolution whose taps are shifted by learned offsets and read by linear interpolation.
#include <algorithm>
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/conv/conv_shapes.h"

namespace tern {
namespace {

struct DeformConv {
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1, offset_group = 1;
  template <class V> void Visit(V& v) {
    v("strides", strides, "one per spatial axis; empty means 1");
    v("pads", pads, "pads at the start of each spatial axis, then at the end of each; empty means 0");
    v("dilations", dilations, "one per spatial axis; empty means 1");
    v("group", group, "number of channel groups; each group is convolved separately");
    v("offset_group", offset_group, "number of groups of input channels; each group has its own offsets");
  }
};

Status CheckChannels(const DeformConv& op, const Shape& x, const Shape& w) {
  if (op.group < 1 || op.offset_group < 1)
    return InvalidModel("group ", op.group, " and offset_group ", op.offset_group, " must be 1 or more");
  TERN_TRY(CheckConvShapes(op.group, x, w, "output"));
  if (x.ranked && x[1].known() && x[1].value() % op.offset_group)
    return InvalidModel("offset_group ", op.offset_group, " does not divide the ", x[1].value(),
                        " input channels");
  return CheckGroupChannels(op.group, x, w);
}

Result<Shape> OutputShape(const DeformConv& op, const Shape& x, const Shape& w) {
  TERN_TRY(CheckChannels(op, x, w));
  if (!x.ranked || !w.ranked)
    return x.ranked || w.ranked ? Shape(std::vector<Dim>(static_cast<size_t>(std::max(x.rank(), w.rank()))))
                                : Shape();
  TERN_ASSIGN(Window window, MakeWindow(x.rank() - 2, op.strides, op.pads, op.dilations, AutoPad::kNone));
  TERN_TRY(CheckKernel(std::vector<Dim>(w.dims.begin() + 2, w.dims.end())));
  std::vector<Dim> out = {x[0], w[0]};
  for (int i = 2; i < x.rank(); ++i) {
    TERN_ASSIGN(Dim size, Positions(window, i - 2, x[i], w[i]));
    out.push_back(size);
  }
  return Shape(std::move(out));
}

// Checks offset or mask, which must be [N, offset_group * taps * per_tap, output…]. `per_tap` is the number
// of values per tap.
Status CheckPerTap(const DeformConv& op, InferContext& c, const char* port, int64_t per_tap, const Shape& y) {
  const Shape &s = c.ShapeOf(port), &w = c.ShapeOf("w");
  if (!c.Has(port) || !s.ranked || !w.ranked || !y.ranked) return {};
  std::vector<Dim> wanted = y.dims;
  wanted[1] = op.offset_group * per_tap;
  for (int i = 2; i < w.rank(); ++i) wanted[1] = wanted[1] * w[i];
  bool fits = s.rank() == y.rank();
  for (size_t i = 0; fits && i < wanted.size(); ++i) fits = !Differ(s.dims[i], wanted[i]);
  return fits ? Status()
              : InvalidModel("input '", port, "' must be ", Shape(wanted).ToString(), ", got ", s.ToString());
}

Status Infer(const DeformConv& op, InferContext& c) {
  TERN_ASSIGN(Shape y, OutputShape(op, c.ShapeOf("x"), c.ShapeOf("w")));
  TERN_TRY(CheckVector(c, "bias", y.ranked ? y[1] : Dim()));
  TERN_TRY(CheckPerTap(op, c, "offset", y.rank() - 2, y));
  TERN_TRY(CheckPerTap(op, c, "mask", 1, y));
  c.Out("y", c.TypeOf("x"), std::move(y));
  return {};
}

// Interpolates linearly between the 2^rank neighbours of a real position. Elements outside the plane are 0.
double Interpolate(const double* plane, const Dims& dims, const std::vector<double>& position,
                   size_t axis = 0, int64_t offset = 0) {
  if (axis == dims.size()) return plane[offset];
  const double low = std::floor(position[axis]), part = position[axis] - low;
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const double at = low + side, weight = side ? part : 1 - part;
    if (weight == 0 || !(at >= 0 && at < static_cast<double>(dims[axis]))) continue;
    sum +=
        weight * Interpolate(plane, dims, position, axis + 1, offset * dims[axis] + static_cast<int64_t>(at));
  }
  return sum;
}

struct Sampler {
  Dims input, kernel, output;
  Window window;
  int64_t taps, positions, planes;  // number of elements of kernel, output and input

  // Returns the input position that a tap reads for an output element. `k` is the flat index of the tap, and
  // `tap` its index along each axis. `at` is the flat index of the output element, and `output_index` its
  // index along each axis. `offset` [taps, rank, positions] is added to the position.
  std::vector<double> Position(const Dims& output_index, int64_t at, const Dims& tap, int64_t k,
                               const double* offset) const {
    std::vector<double> position(input.size());
    for (size_t i = 0; i < position.size(); ++i) {
      const WindowAxis& a = window.axes[i];
      const double shift =
          offset[(k * static_cast<int64_t>(input.size()) + static_cast<int64_t>(i)) * positions + at];
      position[i] = static_cast<double>(output_index[i] * a.stride + tap[i] * a.dilation - a.begin) + shift;
    }
    return position;
  }
  // Computes im2col of one input channel: [taps, positions].
  void Gather(const double* plane, const double* offset, const double* mask, double* im2col) const {
    Dims tap(kernel.size(), 0), output_index(output.size(), 0);
    for (int64_t k = 0; k < taps; ++k, NextIndex(tap, kernel, static_cast<int>(kernel.size())))
      for (int64_t at = 0; at < positions;
           ++at, NextIndex(output_index, output, static_cast<int>(output.size()))) {
        const double v = Interpolate(plane, input, Position(output_index, at, tap, k, offset));
        im2col[k * positions + at] = mask ? v * mask[k * positions + at] : v;
      }
  }
};

Status Reference(const DeformConv& op, EvalContext& c) {
  const Dims &dx = c.In("x").dims(), &dw = c.In("w").dims();
  TERN_ASSIGN(Shape shape, OutputShape(op, Shape::Of(dx), Shape::Of(dw)));
  TERN_ASSIGN(Window window,
              MakeWindow(static_cast<int>(dx.size()) - 2, op.strides, op.pads, op.dilations, AutoPad::kNone));
  const Dims dy = shape.Concrete();
  Sampler s{Dims(dx.begin() + 2, dx.end()),
            Dims(dw.begin() + 2, dw.end()),
            Dims(dy.begin() + 2, dy.end()),
            std::move(window),
            0,
            0,
            0};
  s.taps = CountOf(s.kernel), s.positions = CountOf(s.output), s.planes = CountOf(s.input);
  const auto x = c.Doubles("x"), w = c.Doubles("w"), offset = c.Doubles("offset");
  const auto mask = c.Has("mask") ? c.Doubles("mask") : std::vector<double>();
  const int64_t channels = dx[1], output_channels = dw[0], group_channels = dw[1],
                group_outputs = output_channels / op.group;
  const int64_t rank = static_cast<int64_t>(s.input.size()), offset_channels = channels / op.offset_group;
  std::vector<double> y(static_cast<size_t>(CountOf(dy)), 0),
      im2col(static_cast<size_t>(s.taps * s.positions));
  for (int64_t n = 0; !y.empty() && n < dx[0]; ++n)
    for (int64_t k = 0; k < channels; ++k) {
      const int64_t field = (n * op.offset_group + k / offset_channels) * s.taps * s.positions;
      s.Gather(x.data() + (n * channels + k) * s.planes, offset.data() + field * rank,
               mask.empty() ? nullptr : mask.data() + field, im2col.data());
      const int64_t g = k / group_channels;
      for (int64_t m = g * group_outputs; m < (g + 1) * group_outputs; ++m)
        for (int64_t t = 0; t < s.taps; ++t) {
          const double factor =
              w[static_cast<size_t>((m * group_channels + k % group_channels) * s.taps + t)];
          double* row = y.data() + (n * output_channels + m) * s.positions;
          for (int64_t at = 0; at < s.positions; ++at)
            row[at] += factor * im2col[static_cast<size_t>(t * s.positions + at)];
        }
    }
  if (c.Has("bias")) AddBias(y, c.Doubles("bias"), s.positions);
  c.Out("y", dy, y);
  return {};
}

}  // namespace

TERN_OP(DeformConv) {
  return OpDef::Of<DeformConv>(
             "convolution whose taps read x at positions shifted by offset; each value that a tap reads is multiplied by mask")
      .In("x", kRealFloats)
      .Weight("w", kRealFloats)
      .In("offset", kRealFloats)
      .OptIn("bias", kRealFloats)
      .OptIn("mask", kRealFloats)
      .Out("y", kRealFloats)
      .Macs(ConvMacs(1))
      .Batch(kNoKernel)
      .Axes(No{"channels must be axis 1"})
      .TypicalDims(No{"no kernel packs its weights"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
