// Converts normalisation operators of com.microsoft, some of which include sums and embedding lookups. The
// "simplified" forms are RMS normalisation. norm.cc converts SimplifiedLayerNormalization in the domain
// ai.onnx.
#include "import/onnx/ops/emit.h"

namespace tern::onnx {
namespace {

double Epsilon(const OnnxNode& n, float otherwise) { return n.Float("epsilon", otherwise); }

// Emits 1 / sqrt(mean(x²) + epsilon) in f32. The mean is computed along the axes from `axis` on.
Result<Value*> InverseRoot(OnnxNode& n, Value* x, int64_t axis, double epsilon) {
  const int rank = x->type.shape.rank();
  if (rank < 0) return n.NotYet("statistics of an input of unknown rank");
  TERN_ASSIGN(const int first, NormalizeAxis(axis, rank));
  std::vector<int64_t> axes;
  for (int i = first; i < rank; ++i) axes.push_back(i);
  Emit e(n);
  Value* wide = e.Cast(x, DType::kF32);
  Value* mean = e.Reduce("mean", e.Mul(wide, wide), axes, true);
  return e.Unary("reciprocal", e.Unary("sqrt", e.Add(mean, n.b.Scalar(DType::kF32, epsilon))));
}

Status Simplified(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  const int64_t axis = n.Int("axis", -1);
  const double epsilon = Epsilon(n, 1e-5f);
  n.Out(0, n.b.Op("RmsNorm", {n.In(0), n.In(1)}, {{"axis", axis}, {"epsilon", epsilon}}));
  if (!n.Wants(1)) return {};
  TERN_ASSIGN(Value * inverse, InverseRoot(n, n.In(0), axis, epsilon));
  n.Out(1, inverse);
  return {};
}

Status SkipLayerNorm(OnnxNode& n) {
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  Emit e(n);
  Value* sum = e.Add(n.In(0), n.In(1));
  if (n.Has(4)) sum = e.Add(sum, n.In(4));
  const auto out =
      n.b.Ops("LayerNorm", {sum, n.In(2), n.In(3)}, {{"axis", int64_t{-1}}, {"epsilon", Epsilon(n, 1e-12f)}},
              n.Wants(1) || n.Wants(2) ? 3 : 1);
  n.Out(out);
  n.Out(3, sum);
  return {};
}

Status SkipSimplified(OnnxNode& n) {
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  if (n.Wants(1)) return n.NotYet("the mean, which this norm does not compute");
  Emit e(n);
  Value* sum = e.Add(n.In(0), n.In(1));
  if (n.Has(3)) sum = e.Add(sum, n.In(3));
  const double epsilon = Epsilon(n, 1e-12f);
  n.Out(0, n.b.Op("RmsNorm", {sum, n.In(2)}, {{"axis", int64_t{-1}}, {"epsilon", epsilon}}));
  if (n.Wants(2)) {
    TERN_ASSIGN(Value * inverse, InverseRoot(n, sum, -1, epsilon));
    n.Out(2, inverse);
  }
  n.Out(3, sum);
  return {};
}

// Emits the first rows of the table. Their number is the sequence length, which is axis 1 of `ids`.
Value* FirstRows(Emit& e, Value* table, Value* ids) {
  return e.Slice(table, e.b.Ints({0}), e.SizeOf(ids, 1), 0);
}

Status EmbedLayerNorm(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kIndices));
  for (int i : {2, 3, 5, 6}) TERN_TRY(Require(n, i, kFloats));
  Emit e(n);
  Value* ids = n.In(0);
  Value* places = n.Has(8) ? e.Gather(n.In(3), n.In(8)) : FirstRows(e, n.In(3), ids);
  Value* sum = e.Add(e.Gather(n.In(2), ids), places);
  if (n.Has(1) && n.Has(4)) sum = e.Add(sum, e.Gather(n.In(4), n.In(1)));
  n.Out(0, n.b.Op("LayerNorm", {sum, n.In(5), n.In(6)},
                  {{"axis", int64_t{-1}}, {"epsilon", Epsilon(n, 1e-12f)}}));
  if (n.Wants(1)) {
    Value* zeros = n.b.Op("Fill", {e.SizeOf(ids, 0)}, {{"value", Tensor::Of(DType::kI32, {1}, {0})}});
    n.Out(1, n.Has(7) ? e.Cast(e.Reduce("sum", n.In(7), {1}, false), DType::kI32) : zeros);
  }
  n.Out(2, sum);
  return {};
}

Status GatedRmsNorm(OnnxNode& n) {
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  Emit e(n);
  const std::string activation = n.Text("activation", "silu");
  Value* gate = nullptr;
  if (activation == "sigmoid")
    gate = e.Unary("sigmoid", n.In(2));
  else if (activation == "silu" || activation == "swish")
    gate = n.b.Op("Activation", {n.In(2)}, {{"kind", "swish"}, {"alpha", 1.0}});
  else
    return n.Bad("activation '", activation, "' must be silu, swish or sigmoid");
  Value* y = n.b.Op("RmsNorm", {n.In(0), n.In(1)}, {{"axis", int64_t{-1}}, {"epsilon", Epsilon(n, 1e-5f)}});
  n.Out(0, e.Mul(y, gate));
  return {};
}

// If attribute channels_last is set, x is channels-last. If attribute activation is 1, SiLU is applied to the
// result. `skip` is true for SkipGroupNorm, which first adds a residual and a bias to x.
Status GroupNorm(OnnxNode& n, bool skip) {
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  Emit e(n);
  if (n.RankOf(0) < 3) return n.NotYet("an input of type ", n.In(0)->type.ToString());
  Value* x = n.In(0);
  const bool channels_last = n.Int("channels_last", 1) != 0;
  if (skip) {
    TERN_TRY(Require(n, 3, kFloats));
    Value* residual = n.In(3);
    if (n.RankOf(3) == 2)
      residual =
          e.Unsqueeze(residual, channels_last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3});
    x = e.Add(x, residual);
    if (n.Has(4)) x = e.Add(x, channels_last ? n.In(4) : e.Unsqueeze(n.In(4), {1, 2}));
    n.Out(1, x);
  }
  Value* first = channels_last ? e.ChannelsFirst(x) : x;
  Value* scale = e.Cast(n.In(1), x->type.dtype);
  Value* bias = e.Cast(n.In(2), x->type.dtype);
  Value* y = n.b.Op("GroupNorm", {first, scale, bias},
                    {{"groups", n.Int("groups")}, {"epsilon", Epsilon(n, 1e-5f)}});
  if (n.Int("activation") == 1) y = n.b.Op("Activation", {y}, {{"kind", "swish"}, {"alpha", 1.0}});
  n.Out(0, channels_last ? e.ChannelsLast(y) : y);
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_norm) {
  table.Add("SimplifiedLayerNormalization", Simplified, kMicrosoft);
  table.Add("SkipLayerNormalization", SkipLayerNorm, kMicrosoft);
  table.Add("SkipSimplifiedLayerNormalization", SkipSimplified, kMicrosoft);
  table.Add("EmbedLayerNormalization", EmbedLayerNorm, kMicrosoft);
  table.Add("GatedRMSNorm", GatedRmsNorm, kMicrosoft);
  table.Add(
      "GroupNorm", [](OnnxNode& n) { return GroupNorm(n, false); }, kMicrosoft);
  table.Add(
      "SkipGroupNorm", [](OnnxNode& n) { return GroupNorm(n, true); }, kMicrosoft);
}

}  // namespace tern::onnx
