// Normalisations.
#include <limits>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

Value* Vector(AtenNode& n, Value* channels, DType t, double v) { return Emit(n.b).Fill(channels, t, v); }

// Returns the number of channels (axis 1) of x, as i64[1].
Value* Channels(AtenNode& n, Value* x) {
  if (x->type.shape.rank() > 1 && x->type.shape[1].known()) return n.b.Ints({x->type.shape[1].value()});
  return n.b.Op("Shape", {x}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
}

// Normalises with given statistics. Weight and bias may be absent.
Value* Normalise(AtenNode& n, Value* x, Value* mean, Value* var, double eps) {
  const DType t = x->type.dtype;
  Emit e(n.b);
  Value *scale = n.In("weight"), *bias = n.In("bias");
  if (!scale) scale = Vector(n, Channels(n, x), t, 1);
  if (!bias) bias = Vector(n, Channels(n, x), t, 0);
  return n.b.Op("BatchNorm", {x, e.Cast(scale, t), e.Cast(bias, t), e.Cast(mean, t), e.Cast(var, t)},
                {{"epsilon", eps}});
}

// Normalises with batch statistics, which are the mean and variance over all axes but axis 1.
Status NormaliseByBatch(AtenNode& n, Value* x, double eps, std::vector<Value*>* saved) {
  Emit e(n.b);
  const int rank = x->type.shape.rank();
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    if (i != 1) axes.push_back(i);
  if (rank < 2) return n.NotYet("a tensor of rank ", rank);
  const Moments m = VarianceOf(n.b, x, axes, 0);
  Value *mean = e.Reshape(m.mean, {-1}), *var = e.Reshape(m.variance, {-1});
  n.Out(Normalise(n, x, mean, var, eps));
  if (saved) {
    Value* inverse = e.Unary("reciprocal", e.Unary("sqrt", e.Add(var, e.Like(var, eps))));
    *saved = {mean, inverse};
  }
  return {};
}

Status BatchNorm(AtenNode& n) {
  Value* x = n.In("input");
  const double eps = n.Float("eps", 1e-5);
  if (n.Bool("training") || !n.Has("running_mean")) {
    if (n.Has("running_mean"))
      return n.NotYet("batch normalisation in training mode; export the model in evaluation mode");
    return NormaliseByBatch(n, x, eps, nullptr);
  }
  n.Out(Normalise(n, x, n.In("running_mean"), n.In("running_var"), eps));
  return {};
}

Status NativeBatchNorm(AtenNode& n) {
  Value* x = n.In("input");
  const double eps = n.Float("eps", 1e-5);
  if (n.Has("running_mean") && !n.Bool("training")) {
    n.Out(Normalise(n, x, n.In("running_mean"), n.In("running_var"), eps));
    Value* empty = n.b.Const(Tensor(x->type.dtype, {0}));
    n.Out({empty, empty});
    return {};
  }
  if (n.Has("running_mean"))
    return n.NotYet("batch normalisation in training mode; export the model in evaluation mode");
  std::vector<Value*> saved;
  TERN_TRY(NormaliseByBatch(n, x, eps, &saved));
  n.Out(saved);
  return {};
}

Status InstanceNorm(AtenNode& n) {
  Value* x = n.In("input");
  if (!n.Bool("use_input_stats", true)) {
    n.Out(Normalise(n, x, n.In("running_mean"), n.In("running_var"), n.Float("eps", 1e-5)));
    return {};
  }
  const DType t = x->type.dtype;
  Value *scale = n.In("weight"), *bias = n.In("bias");
  if (!scale) scale = Vector(n, Channels(n, x), t, 1);
  if (!bias) bias = Vector(n, Channels(n, x), t, 0);
  n.Out(n.b.Op("InstanceNorm", {x, scale, bias}, {{"epsilon", n.Float("eps", 1e-5)}}));
  return {};
}

// The first normalised axis, counted from the end.
int64_t FirstAxis(AtenNode& n) { return -static_cast<int64_t>(n.Get("normalized_shape").items.size()); }

Status LayerNorm(AtenNode& n, bool native) {
  Value *x = n.In("input"), *scale = n.In("weight"), *bias = n.In("bias");
  const DType t = x->type.dtype;
  Emit e(n.b);
  if (scale) scale = e.Cast(scale, t);
  if (bias) bias = e.Cast(bias, t);
  if (bias && !scale) scale = e.Fill(e.Shape(bias), t, 1);
  n.Out(n.b.Ops("LayerNorm", {x, scale, bias}, {{"axis", FirstAxis(n)}, {"epsilon", n.Float("eps", 1e-5)}},
                native ? 3 : 1));
  return {};
}

Value* NormaliseGroups(AtenNode& n, Value* x, int64_t groups, double eps) {
  const DType t = x->type.dtype;
  Value *scale = n.In("weight"), *bias = n.In("bias");
  if (!scale) scale = Vector(n, Channels(n, x), t, 1);
  if (!bias) bias = Vector(n, Channels(n, x), t, 0);
  return n.b.Op("GroupNorm", {x, scale, bias}, {{"groups", groups}, {"epsilon", eps}});
}

Status GroupNorm(AtenNode& n) {
  Value* x = n.In("input");
  Emit e(n.b);
  const bool flat = x->type.shape.rank() == 2;
  if (flat) x = e.Unsqueeze(x, {2});
  Value* y = NormaliseGroups(n, x, n.Int("num_groups"), n.Float("eps", 1e-5));
  n.Out(flat ? e.Squeeze(y, {2}) : y);
  return {};
}

Status NativeGroupNorm(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("input");
  const int64_t groups = n.Int("group");
  const double eps = n.Float("eps", 1e-5);
  n.Out(NormaliseGroups(n, x, groups, eps));
  Value* rows = e.Reshape(x, {0, groups, -1});
  const Moments m = VarianceOf(n.b, rows, {2}, 0);
  Value* inverse = e.Unary("reciprocal", e.Unary("sqrt", e.Add(m.variance, e.Like(x, eps))));
  n.Out({e.Squeeze(m.mean, {2}), e.Squeeze(inverse, {2})});
  return {};
}

Status RmsNorm(AtenNode& n, bool native) {
  Value *x = n.In("input"), *scale = n.In("weight");
  const double eps = n.Float("eps", x->type.dtype == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                                                 : std::numeric_limits<float>::epsilon());
  n.Out(n.b.Op("RmsNorm", {x, scale}, {{"axis", FirstAxis(n)}, {"epsilon", eps}}));
  if (!native) return {};
  Emit e(n.b);
  std::vector<int64_t> axes;
  for (int64_t i = FirstAxis(n); i < 0; ++i) axes.push_back(i);
  Value* mean = e.Reduce("mean", e.Mul(x, x), axes, true);
  n.Out(e.Unary("reciprocal", e.Unary("sqrt", e.Add(mean, e.Like(x, eps)))));
  return {};
}

// v * g / |v|, with the norm over all axes but `dim`. If `dim` is -1, the norm is over all axes.
Status WeightNorm(AtenNode& n) {
  Emit e(n.b);
  Value *v = n.In("v"), *g = n.In("g");
  const int rank = v->type.shape.rank();
  const int64_t dim = n.Int("dim");
  if (rank < 1 || dim < -1 || dim >= rank) return n.NotYet("dim ", dim, " of ", v->type.ToString());
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i)
    if (i != dim) axes.push_back(i);
  Value* norm = axes.empty()
                    ? e.Unary("abs", v)
                    : n.b.Op("Reduce", {v, n.b.Ints(axes)}, {{"kind", "l2"}, {"keep_dims", dim >= 0}});
  n.Out(e.Mul(v, e.Div(g, norm)));
  return {};
}

}  // namespace

TERN_CONVERTERS(norm) {
  table.Add("aten::_weight_norm", WeightNorm);
  table.Add("aten::batch_norm", BatchNorm);
  table.Add("aten::_native_batch_norm_legit", NativeBatchNorm);
  table.Add("aten::_native_batch_norm_legit_no_training", NativeBatchNorm);
  table.Add("aten::_native_batch_norm_legit.no_stats", NativeBatchNorm);
  table.Add("aten::native_batch_norm", NativeBatchNorm);
  table.Add("aten::instance_norm", InstanceNorm);
  table.Add("aten::layer_norm", [](AtenNode& n) { return LayerNorm(n, false); });
  table.Add("aten::native_layer_norm", [](AtenNode& n) { return LayerNorm(n, true); });
  table.Add("aten::group_norm", GroupNorm);
  table.Add("aten::native_group_norm", NativeGroupNorm);
  table.Add("aten::rms_norm", [](AtenNode& n) { return RmsNorm(n, false); });
  table.Add("aten::_fused_rms_norm", [](AtenNode& n) { return RmsNorm(n, true); });
}

}  // namespace tern::torch
