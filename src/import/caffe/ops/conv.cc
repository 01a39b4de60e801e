// Converts convolutions.
#include "import/caffe/ops/emit.h"
#include "import/caffe/ops/window.h"

namespace tern::caffe {

Dims BothEnds(const Dims& pads) {
  Dims both = pads;
  both.insert(both.end(), pads.begin(), pads.end());
  return both;
}

namespace {

using Numbers = google::protobuf::RepeatedField<uint32_t>;

// Returns one number per axis. If the pair for height and width is given, returns the pair. Otherwise uses
// the list. A list of one number applies to all axes, and an empty list means `otherwise`.
Result<Dims> PerAxis(const Layer& n, const char* name, const Numbers& list, bool has_pair, int64_t height,
                     int64_t width, int64_t otherwise, int axes) {
  if (has_pair) {
    if (list.size() > 0) return n.Bad(name, " is given as a list and as ", name, "_h and ", name, "_w");
    if (axes != 2) return n.Bad(name, "_h and ", name, "_w need 2 spatial axes, the bottom has ", axes);
    return Dims{height, width};
  }
  if (list.size() == 0) return Dims(static_cast<size_t>(axes), otherwise);
  if (list.size() == 1) return Dims(static_cast<size_t>(axes), list[0]);
  if (list.size() != axes)
    return n.Bad(name, " has ", list.size(), " numbers, but the bottom has ", axes, " spatial axes");
  return Dims(list.begin(), list.end());
}

Status CheckPositive(const Layer& n, const char* name, const Dims& values) {
  for (const int64_t v : values)
    if (v < 1 || v > INT32_MAX) return n.Bad(name, " is ", v, ", but must be in [1, 2^31)");
  return {};
}

struct ConvShape {
  WindowParams window;
  int64_t channels = 0, outputs = 0, groups = 1;
};

Result<ConvShape> ShapeOf(const Layer& n, bool depthwise) {
  const auto& p = n.proto.convolution_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_ASSIGN(const int axis, n.Axis(0, p.axis()));
  if (axis != 1) return n.NotYet("channels on axis ", axis, " instead of 1");
  if (rank < 3) return n.Bad("the bottom has ", rank, " axes, but must have spatial axes");
  const Dim channels = n.In(0)->type.shape[1];
  if (!channels.known()) return n.NotYet("the number of channels must be known");
  ConvShape shape;
  shape.channels = channels.value();
  shape.outputs = p.num_output();
  shape.groups = p.group();
  if (depthwise && !p.has_group()) shape.groups = shape.channels;
  if (shape.outputs < 1) return n.Bad("num_output is missing");
  if (shape.groups < 1 || shape.channels % shape.groups != 0 || shape.outputs % shape.groups != 0)
    return n.Bad(shape.channels, " channels and ", shape.outputs, " outputs are not divisible by group ",
                 shape.groups);
  TERN_ASSIGN(shape.window, ConvWindow(n, rank - 2));
  return shape;
}

Dims WeightDims(int64_t first, int64_t second, const Dims& kernel) {
  Dims dims = {first, second};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  return dims;
}

// Emits the op for each bottom. All bottoms have the same weights.
Status Emit(Layer& n, const char* op, const ConvShape& shape, const Dims& weight_dims) {
  if (n.Bottoms() != n.Tops()) return n.Bad("has ", n.Bottoms(), " bottoms, but ", n.Tops(), " tops");
  TERN_ASSIGN(Value* const weights, n.BlobValue(0, weight_dims));
  Value* bias = nullptr;
  if (n.proto.convolution_param().bias_term()) {
    TERN_ASSIGN(bias, n.BlobValue(1, {shape.outputs}));
  }
  const AttrList attrs = {{"strides", shape.window.strides},
                          {"pads", BothEnds(shape.window.pads)},
                          {"dilations", shape.window.dilations},
                          {"group", shape.groups}};
  std::vector<Value*> tops;
  for (int i = 0; i < n.Bottoms(); ++i) tops.push_back(n.b.Op(op, {n.In(i), weights, bias}, attrs));
  for (int i = 0; i < n.Tops(); ++i) n.Out(i, tops[static_cast<size_t>(i)]);
  return {};
}

Status Convolution(Layer& n, bool depthwise) {
  TERN_ASSIGN(const ConvShape shape, ShapeOf(n, depthwise));
  return Emit(n, "Conv", shape,
              WeightDims(shape.outputs, shape.channels / shape.groups, shape.window.kernel));
}

Status Deconvolution(Layer& n) {
  TERN_ASSIGN(const ConvShape shape, ShapeOf(n, false));
  return Emit(n, "ConvTranspose", shape,
              WeightDims(shape.channels, shape.outputs / shape.groups, shape.window.kernel));
}

constexpr int64_t kMaxWeights = 1 << 26;  // the maximum number of weights that Im2col may emit

// Emits a convolution whose weights select the elements of the window: [N, C * kernel, height, width].
Status Im2col(Layer& n) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.size() < 3) return n.Bad("the bottom has ", dims.size(), " axes, but must have spatial axes");
  TERN_ASSIGN(const WindowParams window, ConvWindow(n, static_cast<int>(dims.size()) - 2));
  int64_t taps = 1;
  for (const int64_t size : window.kernel) {
    taps *= size;
    if (taps > 4096 || dims[1] > kMaxWeights / (taps * taps)) return n.NotYet("a window of this size");
  }
  Tensor select(DType::kF32, WeightDims(dims[1] * taps, 1, window.kernel));
  for (int64_t i = 0; i < dims[1] * taps; ++i) select.data<float>()[i * taps + i % taps] = 1;
  n.Out(0, n.b.Op("Conv", {n.In(0), n.b.Const(std::move(select))},
                  {{"strides", window.strides},
                   {"pads", BothEnds(window.pads)},
                   {"dilations", window.dilations},
                   {"group", dims[1]}}));
  return {};
}

}  // namespace

Result<WindowParams> ConvWindow(const Layer& n, int axes) {
  const auto& p = n.proto.convolution_param();
  WindowParams w;
  if (p.has_kernel_h() != p.has_kernel_w()) return n.Bad("kernel_h and kernel_w must be given together");
  TERN_ASSIGN(w.kernel,
              PerAxis(n, "kernel", p.kernel_size(), p.has_kernel_h(), p.kernel_h(), p.kernel_w(), 0, axes));
  TERN_ASSIGN(w.strides, PerAxis(n, "stride", p.stride(), p.has_stride_h() || p.has_stride_w(), p.stride_h(),
                                 p.stride_w(), 1, axes));
  TERN_ASSIGN(w.pads,
              PerAxis(n, "pad", p.pad(), p.has_pad_h() || p.has_pad_w(), p.pad_h(), p.pad_w(), 0, axes));
  TERN_ASSIGN(w.dilations,
              PerAxis(n, "dilation", p.hole_size() > 0 ? p.hole() : p.dilation(), false, 0, 0, 1, axes));
  TERN_TRY(CheckPositive(n, "kernel_size", w.kernel));
  TERN_TRY(CheckPositive(n, "stride", w.strides));
  TERN_TRY(CheckPositive(n, "dilation", w.dilations));
  return w;
}

TERN_CONVERTERS(conv) {
  constexpr Arity kSeveral = {1, kAny, 1, kAny};
  table.Add(
      "Convolution", [](Layer& n) { return Convolution(n, false); }, kSeveral);
  for (const char* name : {"DepthwiseConvolution", "ConvolutionDepthwise", "DepthwiseConv"})
    table.Add(
        name, [](Layer& n) { return Convolution(n, true); }, kSeveral);
  table.Add("Deconvolution", Deconvolution, kSeveral);
  table.Add("Im2col", Im2col);
}

}  // namespace tern::caffe
