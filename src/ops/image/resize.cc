// Resize: resamples a tensor to other lengths along some axes.
#include <cmath>

#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/op_cost.h"
#include "ops/image/resample.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

enum class AspectPolicy { kStretch, kNotLarger, kNotSmaller };

struct Resize {
  ResizeFilter filter;
  AspectPolicy aspect = AspectPolicy::kStretch;
  float extrapolation = 0;
  std::vector<int64_t> axes;
  template <class V> void Visit(V& v) {
    v.Enum("mode", filter.mode, {"nearest", "linear", "cubic"},
           "how values between elements are interpolated");
    v.Enum("coordinates", filter.coordinates,
           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
            "tf_half_pixel_for_nn", "tf_crop_and_resize"},
           "how a position in y maps to one in x");
    v.Enum("nearest", filter.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"},
           "how the mode nearest rounds positions; simple means ceil if the axis shrinks, floor if it grows");
    v("antialias", filter.antialias, "widen the filter along axes that shrink, to avoid aliasing");
    v("exclude_outside", filter.exclude_outside,
      "taps outside x have weight 0, and the other weights are normalised to sum to 1");
    v("cubic_a", filter.cubic_a, "the coefficient of cubic interpolation");
    v("extrapolation", extrapolation, "the value of tf_crop_and_resize outside x");
    v.Enum(
        "aspect", aspect, {"stretch", "not_larger", "not_smaller"},
        "stretch: sizes are exact; not_larger and not_smaller: sizes are limits, and the aspect ratio does not change");
    v("axes", axes, "the axes that roi, scales and sizes refer to; empty means all");
  }
};

Result<std::vector<int>> AxesOf(const Resize& op, int rank) {
  if (!op.axes.empty()) return NormalizeAxes(op.axes, rank);
  std::vector<int> all;
  for (int i = 0; i < rank; ++i) all.push_back(i);
  return all;
}

bool Crops(const Resize& op) { return op.filter.coordinates == ResizeCoordinates::kTfCropAndResize; }

Status CheckScale(double scale) {
  if (!(scale > 0 && scale < 1e15))
    return InvalidArgument("a scale is ", scale, ", but must be positive and below 1e15");
  return {};
}

Status CheckLength(const char* port, int64_t got, size_t wanted) {
  if (got != static_cast<int64_t>(wanted))
    return InvalidModel(port, " has ", got, " entries for ", wanted, " axes");
  return {};
}

// Returns floor(input * scale), computed in single precision. Like ONNX's shape inference and reference
// evaluator, it ignores roi, although ONNX's text also multiplies by the cropped fraction of the input.
Result<int64_t> ScaledLength(int64_t input, double scale) {
  const float length = std::floor(static_cast<float>(input) * static_cast<float>(scale));
  if (!(length >= 0 && length < 9e18f))
    return InvalidArgument("cannot scale a dimension of ", input, " by ", scale);
  return static_cast<int64_t>(length);
}

// Returns floor(dim * scale) for a symbolic dim if the scale is m / 2^k with integers m and k, and an unknown
// dim otherwise.
Dim ScaledDim(const Dim& dim, double scale) {
  for (int k = 0; k <= 8; ++k) {
    const double m = scale * (1 << k);
    if (m == std::floor(m) && m < 1e6) return FloorDiv(dim * Dim(static_cast<int64_t>(m)), int64_t{1} << k);
  }
  return {};
}

Status ApplyScales(const Tensor& scales, const std::vector<int>& axes, std::vector<ResizeAxis>& all) {
  TERN_TRY(CheckLength("scales", scales.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = all[static_cast<size_t>(axes[i])];
    axis.scale = LoadDouble(scales, static_cast<int64_t>(i));
    TERN_TRY(CheckScale(axis.scale));
    TERN_ASSIGN(axis.output, ScaledLength(axis.input, axis.scale));
  }
  return {};
}

Status ApplySizes(const Resize& op, const std::vector<int64_t>& sizes, const std::vector<int>& axes,
                  std::vector<ResizeAxis>& all) {
  TERN_TRY(CheckLength("sizes", static_cast<int64_t>(sizes.size()), axes.size()));
  double common_scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = all[static_cast<size_t>(axes[i])];
    if (sizes[i] < 0 || (axis.input == 0 && sizes[i] != 0))
      return InvalidArgument("cannot resize a dimension of ", axis.input, " to ", sizes[i]);
    axis.output = sizes[i];
    axis.sized = true;
    axis.scale = axis.input ? static_cast<double>(sizes[i]) / static_cast<double>(axis.input) : 1;
    const bool closer =
        op.aspect == AspectPolicy::kNotLarger ? axis.scale < common_scale : axis.scale > common_scale;
    if (i == 0 || closer) common_scale = axis.scale;
  }
  if (op.aspect == AspectPolicy::kStretch) return {};
  for (int a : axes) {
    ResizeAxis& axis = all[static_cast<size_t>(a)];
    axis.scale = common_scale;
    axis.output = static_cast<int64_t>(common_scale * static_cast<double>(axis.input) + 0.5);
  }
  return {};
}

// roi contains the starts of all axes, then the ends of all axes, as fractions of the input.
Status ApplyRoi(const Resize& op, const Tensor* roi, const std::vector<int>& axes,
                std::vector<ResizeAxis>& all) {
  if (!Crops(op)) return {};
  if (!roi || roi->size() == 0) return InvalidArgument("tf_crop_and_resize needs roi");
  TERN_TRY(CheckLength("roi", roi->size(), 2 * axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = all[static_cast<size_t>(axes[i])];
    axis.begin = LoadDouble(*roi, static_cast<int64_t>(i));
    axis.end = LoadDouble(*roi, static_cast<int64_t>(axes.size() + i));
    if (!std::isfinite(axis.begin) || !std::isfinite(axis.end))
      return InvalidArgument("roi is from ", axis.begin, " to ", axis.end, ", but must be finite");
  }
  return {};
}

// Returns the input, or null if it is absent or empty.
const Tensor* Given(const Tensor* t) { return t && t->size() > 0 ? t : nullptr; }

Result<std::vector<ResizeAxis>> Plan(const Resize& op, const Dims& x, const Tensor* roi, const Tensor* scales,
                                     const Tensor* sizes) {
  TERN_ASSIGN(const auto axes, AxesOf(op, static_cast<int>(x.size())));
  std::vector<ResizeAxis> all;
  for (int64_t d : x) all.push_back({d, d});
  TERN_TRY(ApplyRoi(op, roi, axes, all));
  if (Given(scales) && Given(sizes)) return InvalidModel("both scales and sizes are given");
  if (Given(scales))
    TERN_TRY(ApplyScales(*scales, axes, all));
  else if (sizes)
    TERN_TRY(ApplySizes(op, ToLongs(*sizes), axes, all));
  else
    return InvalidModel("neither scales nor sizes are given");
  return all;
}

// Returns the output dims if some dims or inputs are unknown. Dims that cannot be inferred are unknown.
Result<std::vector<Dim>> PartialDims(const Resize& op, const InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  TERN_ASSIGN(const auto axes, AxesOf(op, x.rank()));
  std::vector<Dim> dims = x.dims;
  const auto sizes =
      c.Has("sizes") && op.aspect == AspectPolicy::kStretch ? c.ContentOf("sizes") : std::nullopt;
  const Tensor* scales = Given(c.Constant("scales"));
  if (scales)
    TERN_TRY(CheckLength("scales", scales->size(), axes.size()));
  else if (sizes)
    TERN_TRY(CheckLength("sizes", static_cast<int64_t>(sizes->size()), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& d = dims[static_cast<size_t>(axes[i])];
    if (!scales) {
      d = sizes ? (*sizes)[i] : Dim();
      continue;
    }
    const double scale = LoadDouble(*scales, static_cast<int64_t>(i));
    TERN_TRY(CheckScale(scale));
    if (d.known()) {
      TERN_ASSIGN(d, ScaledLength(d.value(), scale));
    } else {
      d = ScaledDim(d, scale);
    }
  }
  return dims;
}

Status CheckFilter(const Resize& op, DType dtype) {
  if (op.filter.mode == ResizeMode::kNearest)
    return op.filter.antialias ? InvalidModel("antialias needs mode linear or cubic") : Status();
  if (dtype != DType::kInvalid && !IsNumeric(dtype))
    return InvalidModel("cannot interpolate ", DTypeName(dtype));
  return {};
}

Status Infer(const Resize& op, InferContext& c) {
  TERN_TRY(CheckFilter(op, c.TypeOf("x")));
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), Shape());
  if (!x.ranked) return {};
  const bool all_known = x.fully_known() && (!Crops(op) || c.Constant("roi")) &&
                         (!c.Has("scales") || c.Constant("scales")) &&
                         (!c.Has("sizes") || c.Constant("sizes"));
  std::vector<Dim> dims;
  if (all_known) {
    TERN_ASSIGN(const auto plan,
                Plan(op, x.Concrete(), c.Constant("roi"), c.Constant("scales"), c.Constant("sizes")));
    for (const ResizeAxis& axis : plan) dims.push_back(axis.output);
  } else {
    TERN_ASSIGN(dims, PartialDims(op, c));
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

void Nearest(const Resize& op, const std::vector<ResizeAxis>& plan, const Tensor& x, Tensor& y) {
  std::vector<std::vector<int64_t>> sources;
  for (const ResizeAxis& axis : plan) {
    auto& list = sources.emplace_back();
    for (int64_t i = 0; i < axis.output; ++i) {
      const double at =
          axis.identity() ? static_cast<double>(i) : SourcePosition(op.filter.coordinates, axis, i);
      const bool outside = OutsideCrop(op.filter.coordinates, axis, at);
      list.push_back(outside ? -1 : NearestPosition(op.filter.nearest, axis, at));
    }
  }
  if (op.extrapolation != 0 && IsNumeric(x.dtype()))
    FillElements(Tensor::Scalar(x.dtype(), op.extrapolation), 0, y);
  CopyMapped(x, y, sources);
}

// Resamples one axis. data is [outer, axis.input, inner]; the result is [outer, axis.output, inner].
Result<std::vector<double>> Along(const Resize& op, const ResizeAxis& axis, const std::vector<double>& data,
                                  int64_t inner) {
  const int64_t outer = inner && axis.input ? static_cast<int64_t>(data.size()) / (axis.input * inner) : 0;
  std::vector<double> out(static_cast<size_t>(outer * axis.output * inner));
  for (int64_t i = 0; i < axis.output; ++i) {
    const double at = SourcePosition(op.filter.coordinates, axis, i);
    const bool outside = OutsideCrop(op.filter.coordinates, axis, at);
    std::vector<Tap> taps;
    if (!outside) {
      TERN_ASSIGN(taps, TapsAt(op.filter, axis, at));
    }
    for (int64_t o = 0; o < outer; ++o) {
      double* to = &out[static_cast<size_t>((o * axis.output + i) * inner)];
      if (outside) std::fill(to, to + inner, op.extrapolation);
      for (const Tap& tap : taps) {
        const double* from = &data[static_cast<size_t>((o * axis.input + tap.position) * inner)];
        for (int64_t j = 0; tap.weight != 0 && j < inner; ++j) to[j] += tap.weight * from[j];
      }
    }
  }
  return out;
}

Status Interpolate(const Resize& op, const std::vector<ResizeAxis>& plan, const Tensor& x, Tensor& y) {
  std::vector<double> data = ToDoubles(x);
  Dims dims = x.dims();
  for (size_t a : ShrinkingFirst(plan)) {
    if (plan[a].identity()) continue;
    TERN_ASSIGN(data, Along(op, plan[a], data, CountBetween(dims, static_cast<int>(a) + 1, x.rank())));
    dims[a] = plan[a].output;
  }
  if (IsInt(y.dtype())) {
    const int bits = BitWidth(y.dtype()) - (IsSignedInt(y.dtype()) ? 1 : 0);
    const double top = std::ldexp(1.0, bits) - 1, bottom = IsSignedInt(y.dtype()) ? -top - 1 : 0;
    for (double& v : data) v = std::clamp(std::nearbyint(v), bottom, top);
  }
  FromDoubles(data, y);
  return {};
}

Status Reference(const Resize& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto input = [&](const char* port) { return c.Has(port) ? &c.In(port) : nullptr; };
  TERN_ASSIGN(const auto plan, Plan(op, x.dims(), input("roi"), input("scales"), input("sizes")));
  Dims dims;
  for (const ResizeAxis& axis : plan) dims.push_back(axis.output);
  Tensor& y = c.Out("y", dims);
  if (y.size() == 0) return {};
  if (x.size() == 0) return InvalidArgument("cannot resample an empty tensor: x is ", x.Describe());
  if (op.filter.mode != ResizeMode::kNearest) return Interpolate(op, plan, x, y);
  Nearest(op, plan, x, y);
  return {};
}

// Items of a batch can be run separately only if x is f32. The kernels for f32 read only the dims of the
// result. Other types run in the reference evaluator, which reads `sizes`, and `sizes` contains the size of
// the entire batch.
bool ResizeBatch(BatchItems& b) {
  const Resize& op = b.attrs().As<Resize>();
  if (op.filter.coordinates == ResizeCoordinates::kTfCropAndResize || op.aspect != AspectPolicy::kStretch ||
      b.node().inputs[0].dtype != DType::kF32 || !b.FirstInput())
    return false;
  const bool scaled = b.Has(2) && CountOf(b.InDims(2)) > 0;
  if (!scaled) return true;
  if (!b.Known(2)) return false;
  const auto rank = static_cast<int64_t>(b.InDims(0).size());
  const auto outermost = [&](int64_t a) { return a == 0 || a == -rank; };
  const auto at = op.axes.empty() ? op.axes.begin() : std::find_if(op.axes.begin(), op.axes.end(), outermost);
  if (!op.axes.empty() && at == op.axes.end()) return true;
  return LoadDouble(*b.Known(2), at - op.axes.begin()) == 1;
}

std::optional<AxisMap> Axes(const Node& node) {
  if (node.attrs.As<Resize>().aspect != AspectPolicy::kStretch) return std::nullopt;
  return FirstOperandLayout(node);
}
void Rename(const Node& node, AxisRenaming& r) {
  const std::vector<int64_t>& axes = node.attrs.As<Resize>().axes;
  r.SetAttr("axes", r.Moved(axes.empty() ? FirstAxes(r.rank()) : axes));
}

}  // namespace

TERN_OP(Resize) {
  return OpDef::Of<Resize>("x resampled so that each dim is multiplied by its scale or changed to its size")
      .In("x", kAnyType)
      .OptSetting("roi", kFloats)
      .OptSetting("scales", kFloats)
      .OptSetting("sizes", kIndices)
      .Out("y", kAnyType)
      .Flops(PerOutput(4))
      .Batch(ResizeBatch)
      .Axes(Axes, Rename)
      .KeepsScale([](const Attrs& a) {
        const Resize op = a.As<Resize>();
        return op.filter.mode == ResizeMode::kNearest && !Crops(op);
      })
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
