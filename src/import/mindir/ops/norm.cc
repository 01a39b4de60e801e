// Converts normalisations. Most of them also return statistics. A model that reads these statistics is
// refused, because only training needs them.
#include "import/mindir/ops/emit.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

// Sets the result to a tuple of y and `statistics` texts in place of statistics. No converter accepts a text,
// so a model that reads a statistic gets an error that names the statistic.
void OutWithStatistics(MindNode& n, Value* y, size_t statistics) {
  std::vector<Item> items = {Item::Of(y)};
  for (size_t i = 0; i < statistics; ++i) items.push_back(Item::Text(StrCat("a statistic of ", n.op())));
  n.OutItem(Item::Tuple(std::move(items)));
}

// Indices of inputs that differ between versions. All versions have the inputs x, scale, bias, mean and
// variance. BatchNorm then has is_training, epsilon, momentum and data_format.
struct BatchNormInputs {
  int training, epsilon, format;
  size_t statistics;
};
Status BatchNormOf(MindNode& n, const BatchNormInputs& at) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 2));
  for (int i = 3; i < 5; ++i)
    if (!n.Has(i)) return n.Bad("input ", i, " is missing");
  if (n.Bool(at.training, {"is_training"}))
    return n.NotYet("training mode; call net.set_train(False) before export");
  Emit e(n);
  const bool last = at.format != n.kAttribute - 1 && IsChannelsLast(n, at.format);
  Value* x = last ? e.ChannelsFirst(n.In(0)) : n.In(0);
  const DType t = n.In(3)->type.dtype;
  Value* channels = e.ShapeOf(n.In(3));
  Value* scale = n.Has(1) ? n.In(1) : e.Fill(channels, t, 1);
  Value* bias = n.Has(2) ? n.In(2) : e.Fill(channels, t, 0);
  Value* y = n.b.Op("BatchNorm", {x, scale, bias, n.In(3), n.In(4)},
                    {{"epsilon", n.Float(at.epsilon, {"epsilon"}, 1e-5)}});
  OutWithStatistics(n, last ? e.ChannelsLast(y) : y, at.statistics);
  return {};
}

// Inputs: x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon.
Status LayerNorm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 1));
  if (!n.Has(1) || !n.Has(2)) return n.Bad("gamma or beta is missing");
  Emit e(n);
  const auto positive = [&](int64_t axis) { return axis < 0 ? axis + n.RankOf(0) : axis; };
  const int64_t axis = positive(n.Int(3, {"begin_norm_axis"}, 1));
  const AttrList attrs = {{"axis", axis}, {"epsilon", n.Float(5, {"epsilon"}, 1e-7)}};
  const DType t = n.In(0)->type.dtype;
  Value *gamma = e.Cast(n.In(1), t), *beta = e.Cast(n.In(2), t);
  const bool same = positive(n.Int(4, {"begin_params_axis"}, 1)) == axis;
  Value* y = same ? n.b.Op("LayerNorm", {n.In(0), gamma, beta}, attrs)
                  : e.Add(e.Mul(n.b.Op("LayerNorm", {n.In(0)}, attrs), gamma), beta);
  OutWithStatistics(n, y, 2);
  return {};
}

// Inputs: x, normalized_shape, weight, bias, eps.
Status LayerNormExt(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 1));
  const auto count = static_cast<int64_t>(n.Ints(1, {"normalized_shape"}, {1}).size());
  Value* y = n.b.Op("LayerNorm", {n.In(0), n.In(2), n.In(3)},
                    {{"axis", n.RankOf(0) - count}, {"epsilon", n.Float(4, {"eps"}, 1e-5)}});
  OutWithStatistics(n, y, 2);
  return {};
}

// Inputs: x, num_groups, weight, bias, eps.
Status GroupNorm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 2));
  Emit e(n);
  Value* x = n.In(0);
  Value* channels = e.SizeOf(x, 1);
  Value* scale = n.Has(2) ? n.In(2) : e.Fill(channels, x->type.dtype, 1);
  Value* bias = n.Has(3) ? n.In(3) : e.Fill(channels, x->type.dtype, 0);
  Value* y = n.b.Op("GroupNorm", {x, scale, bias},
                    {{"groups", n.Int(1, {"num_groups"}, 1)}, {"epsilon", n.Float(4, {"eps"}, 1e-5)}});
  OutWithStatistics(n, y, 2);
  return {};
}

// Inputs: x, gamma, beta. The statistics of x are used, not the stored ones.
Status InstanceNorm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 3));
  if (!n.Has(1) || !n.Has(2)) return n.Bad("gamma or beta is missing");
  OutWithStatistics(n,
                    n.b.Op("InstanceNorm", {n.In(0), n.In(1), n.In(2)},
                           {{"epsilon", n.Float(n.kAttribute, {"epsilon"}, 1e-5)}}),
                    2);
  return {};
}

Status RmsNorm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 1));
  TERN_TRY(RequireRank(n, 1, 1));
  Value* y = n.b.Op("RmsNorm", {n.In(0), n.In(1)},
                    {{"axis", n.RankOf(0) - n.RankOf(1)}, {"epsilon", n.Float(2, {"epsilon"}, 1e-6)}});
  OutWithStatistics(n, y, 1);
  return {};
}

// Inputs: x1, x2, gamma, epsilon. Results: the normalised sum, a statistic, and the sum.
Status AddRmsNorm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 1));
  TERN_TRY(RequireRank(n, 2, 1));
  Emit e(n);
  Value* sum = e.Add(n.In(0), n.In(1));
  Value* y = n.b.Op("RmsNorm", {sum, n.In(2)},
                    {{"axis", n.RankOf(0) - n.RankOf(2)}, {"epsilon", n.Float(3, {"epsilon"}, 1e-6)}});
  n.OutItem(Item::Tuple({Item::Of(y), Item::Text("a statistic of AddRmsNorm"), Item::Of(sum)}));
  return {};
}

// x / (bias + alpha * sum of squares)^beta. Tern multiplies alpha by the mean instead of the sum.
Status Lrn(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  const std::string region = n.Text(n.kAttribute, {"norm_region"}, "across_channels");
  if (region != "across_channels") return n.NotYet("norm_region ", region);
  const int64_t radius = n.Int(n.kAttribute, {"depth_radius"}, 5),
                size = radius < 0 || radius > 50000 ? 0 : 2 * radius + 1;
  if (size < 1) return n.Bad("depth_radius ", radius);
  n.Out(n.b.Op("Lrn", {n.In(0)},
               {{"size", size},
                {"alpha", n.Float(n.kAttribute, {"alpha"}, 1) * static_cast<double>(size)},
                {"beta", n.Float(n.kAttribute, {"beta"}, 0.5)},
                {"bias", n.Float(n.kAttribute, {"bias"}, 1)}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(norm) {
  for (const char* name : {"BatchNorm", "FusedBatchNorm", "FusedBatchNormEx"})
    table.Add(name, [](MindNode& n) { return BatchNormOf(n, {5, 6, 8, 4}); });
  // Inputs: x, weight, bias, mean, variance, training, momentum, epsilon.
  table.Add("BatchNormExt", [](MindNode& n) { return BatchNormOf(n, {5, 7, MindNode::kAttribute - 1, 2}); });
  for (const char* name : {"LayerNorm", "LayerNormV3"}) table.Add(name, LayerNorm);
  table.Add("LayerNormExt", LayerNormExt);
  table.Add("GroupNorm", GroupNorm);
  table.Add("InstanceNorm", InstanceNorm);
  table.Add("RmsNorm", RmsNorm);
  table.Add("AddRmsNorm", AddRmsNorm);
  table.Add("LRN", Lrn);
}

}  // namespace tern::mindir
