// Converts normalisations without weights, and experimental operators that old exporters wrote, such as
// Affine and Scale.
#include "import/onnx/ops/emit.h"
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

Value* Number(OnnxNode& n, double v) { return n.b.Scalar(n.TypeOf(0), v); }
Value* Times(OnnxNode& n, Value* x, double v) { return v == 1 ? x : Binary(n, "mul", x, Number(n, v)); }

// Emits x / norm(x) along an axis. A zero vector stays zero.
Status LpNormalization(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  const int64_t p = n.Int("p", 2);
  if (p != 1 && p != 2) return n.Bad("p must be 1 or 2, got ", p);
  Value* axis = n.b.Ints({n.Int("axis", -1)});
  Value* norm = n.b.Op("Reduce", {n.In(0), axis}, {{"kind", p == 1 ? "l1" : "l2"}});
  Value* zero = Binary(n, "equal", norm, Number(n, 0));
  n.Out(0, n.b.Op("Where", {zero, Number(n, 0), Binary(n, "div", n.In(0), norm)}));
  return {};
}

// Before opset 9, the operator is experimental and has other attributes. If across_channels is set,
// statistics include the channel axis. If normalize_variance is 0, the mean is subtracted, but the result is
// not divided by the standard deviation.
Status MeanVarianceNormalization(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  const bool across = n.opset < 9 && n.Int("across_channels") != 0;
  Value* axes =
      n.b.Ints(n.Ints("axes", across ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 2, 3}));
  Value* mean = n.b.Op("Reduce", {n.In(0), axes}, {{"kind", "mean"}});
  Value* centered = Binary(n, "sub", n.In(0), mean);
  if (n.opset < 9 && n.Int("normalize_variance", 1) == 0) {
    n.Out(0, centered);
    return {};
  }
  Value* variance = n.b.Op("Reduce", {Binary(n, "mul", centered, centered), axes}, {{"kind", "mean"}});
  Value* deviation = n.b.Op("Unary", {variance}, {{"kind", "sqrt"}});
  n.Out(0, Binary(n, "div", centered, Binary(n, "add", deviation, Number(n, 1e-9))));
  return {};
}

Status Affine(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  n.Out(0, Binary(n, "add", Times(n, n.In(0), n.Float("alpha", 1)), Number(n, n.Float("beta", 0))));
  return {};
}

Status Scale(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  n.Out(0, Binary(n, "mul", n.In(0), Number(n, n.Float("scale", 1))));
  return {};
}

// Emits y = x * scale + bias[channel]. x is [N, C, H, W].
Status ImageScaler(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  const auto bias = n.Floats("bias");
  const Tensor per_channel =
      Tensor::Of(n.TypeOf(0), {static_cast<int64_t>(bias.size()), 1, 1}, {bias.begin(), bias.end()});
  Value* y = Times(n, n.In(0), n.Float("scale", 1));
  n.Out(0, bias.empty() ? n.b.Op("Identity", {y}) : Binary(n, "add", y, n.b.Const(per_channel)));
  return {};
}

// Returns a converter that emits alpha * f(beta * x), where f is Unary of this kind.
Converter AroundOf(const char* kind) {
  return [kind](OnnxNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Value* y = n.b.Op("Unary", {Times(n, n.In(0), n.Float("beta", 1))}, {{"kind", kind}});
    n.Out(0, Times(n, y, n.Float("alpha", 1)));
    return {};
  };
}

// Attribute border contains the numbers of pixels to remove at left, top, right and bottom. Attribute scale
// contains the height and width of the result. If scale is present, right and bottom are ignored.
Status Crop(OnnxNode& n) {
  const auto border = n.Ints("border", {0, 0, 0, 0}), scale = n.Ints("scale");
  if (border.size() != 4) return n.Bad("border must have 4 numbers, got ", border.size());
  if (!scale.empty() && scale.size() != 2) return n.Bad("scale must have 2 numbers, got ", scale.size());
  const int64_t left = border[0], top = border[1], right = border[2], bottom = border[3];
  const auto end = [](int64_t cut) { return cut == 0 ? INT64_MAX : -cut; };
  std::vector<int64_t> ends = {end(bottom), end(right)};
  if (!scale.empty()) {
    if (__builtin_add_overflow(top, scale[0], &ends[0]) || __builtin_add_overflow(left, scale[1], &ends[1]))
      return n.Bad("scale [", Join(scale, ","), "] is out of range");
  }
  n.Out(0, n.b.Op("Slice", {n.In(0), n.b.Ints({top, left}), n.b.Ints(ends), n.b.Ints({2, 3})}));
  return {};
}

// Emits the constant `values`. If input 0 is absent, the attribute `shape` is the shape of the constant. If
// input 0 is present, its elements (if input_as_shape is set) or its dims are the shape. In all cases, the
// dims of the attribute `extra_shape` are appended.
Status GivenTensorFill(OnnxNode& n) {
  const auto values = n.Floats("values");
  std::vector<int64_t> shape = n.Ints("shape");
  if (n.Has(0)) {
    const auto input = n.Longs(0);
    if (n.Int("input_as_shape") && !input) return n.NotYet("a shape that is not constant");
    shape = n.Int("input_as_shape") ? *input : std::vector<int64_t>();
    const Shape& like = n.In(0)->type.shape;
    if (!n.Int("input_as_shape") && !like.fully_known()) return n.NotYet("a shape that is not known");
    if (!n.Int("input_as_shape")) shape = like.Concrete();
  }
  for (int64_t d : n.Ints("extra_shape")) shape.push_back(d);
  const auto count = CheckedCount(shape, DType::kF32);
  if (!count || *count != static_cast<int64_t>(values.size()))
    return n.Bad("there are ", values.size(), " values for the shape [", Join(shape, ","), "]");
  n.Out(0, n.b.Const(Tensor::Of(DType::kF32, shape, {values.begin(), values.end()})));
  return {};
}

}  // namespace

TERN_CONVERTERS(scale_shift) {
  table.Add("LpNormalization", LpNormalization);
  table.Add("MeanVarianceNormalization", MeanVarianceNormalization);
  table.Add("Affine", Affine);
  table.Add("Scale", Scale);
  table.Add("ImageScaler", ImageScaler);
  table.Add("ParametricSoftplus", AroundOf("softplus"));
  table.Add("ScaledTanh", AroundOf("tanh"));
  table.Add("Crop", Crop);
  table.Add("GivenTensorFill", GivenTensorFill);
}

}  // namespace tern::onnx
