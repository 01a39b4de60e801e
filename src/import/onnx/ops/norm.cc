// Converts normalisation operators with weights. scale_shift.cc converts those without weights.
#include "import/onnx/ops/emit.h"
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

// Returns the axes along which statistics are computed. If `spatial` is true, these are all axes except the
// channels. Otherwise this is only the batch axis, so each element of [C, D…] has its own statistics.
std::vector<int64_t> BatchAxes(int rank, bool spatial) {
  std::vector<int64_t> axes = {0};
  for (int i = 2; spatial && i < rank; ++i) axes.push_back(i);
  return axes;
}

struct Moments {
  Value *mean, *var;
};

// Emits the mean and variance of input 0 along the axes. Computes them in f32 or f64, because f16 would
// overflow.
Moments MeanAndVariance(OnnxNode& n, const std::vector<int64_t>& axes) {
  const DType type = n.TypeOf(0) == DType::kF64 ? DType::kF64 : DType::kF32;
  Value* x = CastTo(n, n.In(0), type);
  Value* list = n.b.Ints(axes);
  Value* kept = n.b.Op("Reduce", {x, list}, {{"kind", "mean"}, {"keep_dims", true}});
  Value* centred = Binary(n, "sub", x, kept);
  Value* var =
      n.b.Op("Reduce", {Binary(n, "mul", centred, centred), list}, {{"kind", "mean"}, {"keep_dims", false}});
  return {n.b.Op("Squeeze", {kept, list}), var};
}

Value* Running(OnnxNode& n, Value* old, Value* now, float momentum) {
  const DType type = old->type.dtype;
  Value* kept = Binary(n, "mul", old, n.b.Scalar(type, momentum));
  return Binary(n, "add", kept, Binary(n, "mul", CastTo(n, now, type), n.b.Scalar(type, 1.0 - momentum)));
}

// Emits a normalisation with statistics per element of [C, D…] instead of per channel. BatchNorm does not
// support such statistics, so elementwise ops compute the normalisation.
Value* PerElement(OnnxNode& n, Value* mean, Value* var, float epsilon) {
  const DType type = n.TypeOf(0);
  Value* deviation = n.b.Op("Unary", {Binary(n, "add", var, n.b.Scalar(type, epsilon))}, {{"kind", "sqrt"}});
  Value* normal = Binary(n, "div", Binary(n, "sub", n.In(0), mean), deviation);
  return Binary(n, "add", Binary(n, "mul", normal, n.In(1)), n.In(2));
}

Value* Normalized(OnnxNode& n, Value* mean, Value* var, bool spatial) {
  const float epsilon = n.Float("epsilon", 1e-5f);
  if (!spatial) return PerElement(n, CastTo(n, mean, n.TypeOf(0)), CastTo(n, var, n.TypeOf(0)), epsilon);
  return n.b.Op("BatchNorm", {n.In(0), n.In(1), n.In(2), mean, var},
                {{"epsilon", static_cast<double>(epsilon)}});
}

// Before version 14, a node is in training mode if it has more than one output.
Status BatchNormalization(OnnxNode& n) {
  for (int i = 0; i < 5; ++i) TERN_TRY(Require(n, i));
  const bool spatial = n.opset >= 9 || n.Int("spatial", 1) != 0;
  bool training = n.Int("training_mode") != 0;
  for (int i = 1; n.opset < 14 && i < n.OutputCount(); ++i) training = training || n.Wants(i);
  if (!training) {
    n.Out(0, Normalized(n, n.In(3), n.In(4), spatial));
    return {};
  }
  if (n.RankOf(0) < 0) return n.NotYet("training mode on an input of unknown rank");
  const Moments now = MeanAndVariance(n, BatchAxes(n.RankOf(0), spatial));
  const float momentum = n.Float("momentum", 0.9f);
  n.Out(0, Normalized(n, now.mean, now.var, spatial));
  n.Out(1, Running(n, n.In(3), now.mean, momentum));
  n.Out(2, Running(n, n.In(4), now.var, momentum));
  n.Out(3, CastTo(n, now.mean, n.TypeOf(3)));
  n.Out(4, CastTo(n, now.var, n.TypeOf(4)));
  return {};
}

Status LayerNormalization(OnnxNode& n) {
  TERN_ASSIGN(DType stash, n.DTypeAttr("stash_type", DType::kF32));
  int outputs = 1;
  for (int i = 1; i < 3; ++i)
    if (n.Wants(i)) outputs = i + 1;
  const double epsilon = n.Float("epsilon", 1e-5f);
  n.Out(n.b.Ops("LayerNorm", {n.In(0), n.In(1), n.In(2)},
                {{"axis", n.Int("axis", -1)}, {"epsilon", epsilon}, {"stash_type", stash}}, outputs));
  return {};
}

// Repeats each element of per_group [groups] for each channel of its group. Version 18 of the operator has
// one scale and bias per group. Later versions have one scale and bias per channel.
Value* PerChannel(OnnxNode& n, Value* per_group, int64_t groups) {
  Builder& b = n.b;
  Value* channels = b.Op("Shape", {n.In(0)}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  Value* group_size = b.Op("Binary", {channels, b.Ints({groups})}, {{"kind", "div"}});
  Value* column = b.Op("Unsqueeze", {per_group, b.Ints({1})});
  Value* wanted = b.Op("Concat", {b.Ints({groups}), group_size}, {{"axis", int64_t{0}}});
  return b.Op("Reshape", {b.Op("Expand", {column, wanted}), b.Ints({-1})});
}

Status GroupNormalization(OnnxNode& n) {
  const int64_t groups = n.Int("num_groups");
  if (groups < 1) return n.Bad("num_groups is ", groups, ", but must be at least 1");
  const bool per_group = n.opset < 21;
  Value* scale = per_group ? PerChannel(n, n.In(1), groups) : n.In(1);
  Value* bias = per_group ? PerChannel(n, n.In(2), groups) : n.In(2);
  n.Out(0, n.b.Op("GroupNorm", {n.In(0), scale, bias},
                  {{"groups", groups}, {"epsilon", static_cast<double>(n.Float("epsilon", 1e-5f))}}));
  return {};
}

// SimplifiedLayerNormalization is onnxruntime's name of RMS normalisation. Exporters also use this name in
// the default domain. The second output is 1 / sqrt(mean(x²) + epsilon).
Status SimplifiedLayerNormalization(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  const int64_t axis = n.Int("axis", -1);
  const double epsilon = n.Float("epsilon", 1e-5f);
  n.Out(0, n.b.Op("RmsNorm", {n.In(0), n.In(1)}, {{"axis", axis}, {"epsilon", epsilon}}));
  if (!n.Wants(1)) return {};
  if (n.RankOf(0) < 0) return n.NotYet("the second output for an input of unknown rank");
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + n.RankOf(0) : axis; i < n.RankOf(0); ++i) axes.push_back(i);
  Value* x = CastTo(n, n.In(0), DType::kF32);
  Value* mean =
      n.b.Op("Reduce", {Binary(n, "mul", x, x), n.b.Ints(axes)}, {{"kind", "mean"}, {"keep_dims", true}});
  Value* root =
      n.b.Op("Unary", {Binary(n, "add", mean, n.b.Scalar(DType::kF32, epsilon))}, {{"kind", "sqrt"}});
  n.Out(1, n.b.Op("Unary", {root}, {{"kind", "reciprocal"}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(norm) {
  table.Add("SimplifiedLayerNormalization", SimplifiedLayerNormalization);
  table.Add("InstanceNormalization", Direct("InstanceNorm", {"epsilon"}));
  table.Add("GroupNormalization", GroupNormalization);
  table.Add("RMSNormalization", Direct("RmsNorm", {"axis", "epsilon"}));
  table.Add("LRN", Direct("Lrn", {"size", "alpha", "beta", "bias"}));
  table.Add("BatchNormalization", BatchNormalization);
  table.Add("LayerNormalization", LayerNormalization);
}

}  // namespace tern::onnx
