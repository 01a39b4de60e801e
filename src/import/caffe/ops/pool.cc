// Converts pooling layers.
#include "import/caffe/ops/pool.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "import/caffe/ops/emit.h"
#include "import/caffe/ops/window.h"

namespace tern::caffe {
namespace {

// One spatial axis of a pooling layer, and the number of windows that Caffe computes for it.
struct Axis {
  int64_t input = 0, kernel = 1, stride = 1, pad = 0;
  int64_t windows = 0, full = 0;  // all windows, and those that start before the end of the input
};

Result<Axis> AxisOf(const Layer& n, int64_t input, int64_t kernel, int64_t stride, int64_t pad, bool padded,
                    bool ceil) {
  if (kernel < 1 || stride < 1 || kernel > INT32_MAX || stride > INT32_MAX || pad > INT32_MAX)
    return n.Bad("kernel ", kernel, " and stride ", stride, " must be in [1, 2^31)");
  if (pad >= kernel) return n.Bad("pad ", pad, " must be smaller than the kernel ", kernel);
  Axis a;
  a.input = input;
  a.kernel = kernel;
  a.stride = stride;
  a.pad = pad;
  const int64_t rest = input + 2 * pad - kernel;
  const int64_t down = rest >= 0 ? rest / stride : -((-rest + stride - 1) / stride);
  a.windows = (ceil && rest % stride != 0 ? down + 1 : down) + 1;
  a.full = a.windows;
  while (a.full > 1 && (a.full - 1) * stride >= input + pad) --a.full;
  if (padded) a.windows = a.full;
  if (a.windows < 1)
    return n.Bad("a window of ", kernel, " does not fit into ", input, " elements with pad ", pad);
  // A window that is larger than the padded input covers all of it.
  a.kernel = std::min(a.kernel, input + 2 * pad);
  return a;
}

// Adds the windows that start beyond the input. Caffe computes them if the layer has no padding and the
// kernel is smaller than the stride. They have no elements. `value` returns the result of such a window.
// NaN is written last, because it also applies to the windows that are empty along both axes.
template <class F> Value* WithEmptyWindows(Layer& n, Value* y, const Axis* axes, const F& value) {
  const bool swap = std::isnan(value(axes[0]));
  for (const int i : {swap ? 1 : 0, swap ? 0 : 1}) {
    const Axis& a = axes[i];
    if (a.windows == a.full) continue;
    Dims pads(8, 0);
    pads[static_cast<size_t>(6 + i)] = a.windows - a.full;
    y = n.b.Op("Pad", {y, n.b.Ints(pads), Number(n, value(a))});
  }
  return y;
}

double Lowest(const Axis&) { return -FLT_MAX; }
double NoPosition(const Axis&) { return -1; }
// Caffe divides the sum 0 by the distance of the window from the end of the input.
double EmptyMean(const Axis& a) { return (a.windows - 1) * a.stride == a.input ? std::nan("") : 0; }

AttrList PoolAttrs(const char* kind, const Axis* axes, bool ceil) {
  return {{"kind", kind},
          {"kernel", Dims{axes[0].kernel, axes[1].kernel}},
          {"strides", Dims{axes[0].stride, axes[1].stride}},
          {"pads", Dims{axes[0].pad, axes[1].pad, axes[0].pad, axes[1].pad}},
          {"ceil_mode", ceil},
          {"count_include_pad", true}};
}

Status GlobalPooling(Layer& n, const pb::PoolingParameter& p) {
  if (p.pool() == pb::PoolingParameter::STOCHASTIC) return n.NotYet("global stochastic pooling");
  if (n.Tops() > 1) return n.NotYet("a mask of global pooling");
  const bool max = p.pool() == pb::PoolingParameter::MAX;
  n.Out(0, n.b.Op("GlobalPool", {n.In(0)}, {{"kind", max ? "max" : "average"}}));
  return {};
}

Status Pooling(Layer& n) {
  const auto& p = n.proto.pooling_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  if (rank != 4) return n.Bad("the bottom has ", rank, " axes, but must have 4");
  if (p.global_pooling()) {
    if (p.has_kernel_size() || p.has_kernel_h() || p.has_kernel_w())
      return n.Bad("global_pooling and a kernel size are both given");
    return GlobalPooling(n, p);
  }
  if (!p.has_kernel_size() && !(p.has_kernel_h() && p.has_kernel_w())) return n.Bad("kernel_size is missing");
  const bool floor = p.round_mode() == pb::PoolingParameter::FLOOR || !p.ceil_mode();
  PoolParams params;
  params.pool = p.pool();
  params.ceil = !floor;
  params.kernel =
      p.has_kernel_size() ? Dims{p.kernel_size(), p.kernel_size()} : Dims{p.kernel_h(), p.kernel_w()};
  params.stride = p.has_stride_h() ? Dims{p.stride_h(), p.stride_w()} : Dims{p.stride(), p.stride()};
  params.pad = p.has_pad_h() ? Dims{p.pad_h(), p.pad_w()} : Dims{p.pad(), p.pad()};
  if (n.Tops() > 1 && params.pool != pb::PoolingParameter::MAX)
    return n.Bad("only max pooling has a second top");
  Value* mask = nullptr;
  TERN_ASSIGN(Value* const y, Pooled(n, n.In(0), params, n.Tops() > 1 ? &mask : nullptr));
  n.Out(0, y);
  if (mask) n.Out(1, mask);
  return {};
}

// Converts the positions that the op Pool returns, which count from the start of the entire input, to
// positions in a plane.
Value* PlanePositions(Layer& n, Value* indices, const Axis* axes) {
  Value* plane = n.b.Scalar(DType::kI64, static_cast<double>(axes[0].input * axes[1].input));
  return CastTo(n, Binary(n, "mod", indices, plane), DType::kF32);
}

// In the test phase, stochastic pooling weighs each element by its probability: sum(x²) / sum(x).
Value* Stochastic(Layer& n, Value* x, const AttrList& average) {
  Value* sum = Affine(n, n.b.Op("Pool", {x}, average), 1, FLT_MIN);
  return Binary(n, "div", n.b.Op("Pool", {Binary(n, "mul", x, x)}, average), sum);
}

}  // namespace

Result<Value*> Pooled(Layer& n, Value* x, const PoolParams& p, Value** mask) {
  const Shape& shape = x->type.shape;
  if (!shape[2].known() || !shape[3].known()) return n.NotYet("height and width must be known");
  const bool padded = p.pad[0] != 0 || p.pad[1] != 0;
  Axis axes[2];
  for (size_t i = 0; i < 2; ++i) {
    TERN_ASSIGN(axes[i], AxisOf(n, shape[2 + static_cast<int>(i)].value(), p.kernel[i], p.stride[i], p.pad[i],
                                padded, p.ceil));
  }
  if (p.pool == pb::PoolingParameter::MAX) {
    const auto tops = n.b.Ops("Pool", {x}, PoolAttrs("max", axes, p.ceil), mask ? 2 : 1);
    TERN_TRY(Status(n.b.status()));
    if (mask) *mask = WithEmptyWindows(n, PlanePositions(n, tops[1], axes), axes, NoPosition);
    return WithEmptyWindows(n, tops[0], axes, Lowest);
  }
  const AttrList average = PoolAttrs("average", axes, p.ceil);
  if (p.pool == pb::PoolingParameter::AVE)
    return WithEmptyWindows(n, n.b.Op("Pool", {x}, average), axes, EmptyMean);
  if (padded) return n.Bad("stochastic pooling has no padding");
  return WithEmptyWindows(n, Stochastic(n, x, average), axes, [](const Axis&) { return 0.0; });
}

namespace {

// Pools with 1, 2, 4 … bins per side, and concatenates the results of all levels.
Status SpatialPyramid(Layer& n) {
  const auto& p = n.proto.spp_param();
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.size() != 4) return n.Bad("the bottom has ", dims.size(), " axes, but must have 4");
  const auto levels = static_cast<int>(std::min<uint32_t>(p.pyramid_height(), 32));
  if (levels < 1 || levels > 20)
    return n.Bad("pyramid_height is ", p.pyramid_height(), ", but must be in [1, 20]");
  std::vector<Value*> parts;
  for (int level = 0; level < levels; ++level) {
    const int64_t bins = int64_t{1} << level;
    PoolParams params;
    params.pool = p.pool();
    for (size_t i = 0; i < 2; ++i) {
      const int64_t size = dims[2 + i], kernel = (size + bins - 1) / bins,
                    pad = (kernel * bins - size + 1) / 2;
      params.kernel.push_back(kernel);
      params.stride.push_back(kernel);
      params.pad.push_back(pad);
    }
    TERN_ASSIGN(Value* const pooled, Pooled(n, n.In(0), params));
    parts.push_back(levels == 1 ? pooled : n.b.Op("Flatten", {pooled}));
  }
  n.Out(0, levels == 1 ? parts[0] : n.b.Op("Concat", parts, {{"axis", int64_t{1}}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(pool) {
  table.Add("Pooling", Pooling, {1, 1, 1, 2});
  table.Add("SPP", SpatialPyramid);
}

}  // namespace tern::caffe
