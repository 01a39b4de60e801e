// Converts reductions, cumulative sums, top-k, softmax and normalizations.
#include <algorithm>

#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

Value* ReduceAlong(Builder& b, const char* kind, Value* x, Value* axes, bool keep_dims) {
  return b.Op("Reduce", {x, axes}, {{"kind", kind}, {"keep_dims", keep_dims}, {"noop_if_empty", true}});
}

// Emits the mean over the spatial axes of [N, C, H, W]. Emits the Quantize right after the mean, before the
// dims are dropped, so that the optimizer fuses both to an integer op.
void SpatialMean(LiteNode& n, bool keep_dims) {
  Value* y = n.b.Op("GlobalPool", {n.Real(0, Layout::kFirst)}, {{"kind", "average"}});
  if (keep_dims) return n.OutReal(0, y, Layout::kFirst);
  n.Out(0, Squeezed(n.b, n.importer().Quantize(y, n.InfoOut(0), n.b), {2, 3}));
}

Status ReduceOp(LiteNode& n, const char* kind) {
  const bool keep = n.Options<fb::ReducerOptions>().keep_dims();
  auto axes = n.Longs(1);
  if (!axes) {
    n.OutReal(0, ReduceAlong(n.b, kind, n.Real(0), Longs64(n.b, Flat(n.b, n.In(1))), keep));
    return {};
  }
  const Layout layout = n.LayoutOf(0);
  const int rank = layout == Layout::kFirst ? 4 : n.RankOf(0);
  for (int64_t& a : *axes) {
    TERN_ASSIGN(a, AxisOf(n, a, rank));
  }
  std::sort(axes->begin(), axes->end());
  axes->erase(std::unique(axes->begin(), axes->end()), axes->end());
  const bool mean = std::string_view(kind) == "mean" && (n.InfoIn(0).quantized || IsFloat(n.InfoIn(0).dtype));
  if (mean && rank == 4 && *axes == std::vector<int64_t>{1, 2}) {
    SpatialMean(n, keep);
    return {};
  }
  const Layout used = keep ? layout : Layout::kLast;
  for (int64_t& a : *axes) a = AxisIn(used, a);
  n.OutReal(0, ReduceAlong(n.b, kind, n.Real(0, used), n.b.Ints(*axes), keep), used);
  return {};
}

std::function<Status(LiteNode&)> ReduceOf(const char* kind) {
  return [kind](LiteNode& n) { return ReduceOp(n, kind); };
}

Status ArgReduce(LiteNode& n, const char* kind) {
  const auto axis = n.Longs(1);
  if (!axis || axis->size() != 1) return n.NotYet("an axis that is not constant");
  n.Out(0, n.b.Op("ArgReduce", {n.In(0)}, {{"kind", kind}, {"axis", (*axis)[0]}, {"keep_dims", false}}));
  return {};
}

Status Softmax(LiteNode& n) {
  const double beta = static_cast<double>(n.Options<fb::SoftmaxOptions>().beta());
  Value* x = n.Real(0);
  if (beta != 1) x = Binary(n.b, "mul", x, ScalarLike(n.b, x, beta));
  n.OutReal(0, n.b.Op("Softmax", {x}, {{"axis", int64_t{-1}}}));
  return {};
}

Status LogSoftmax(LiteNode& n) {
  n.OutReal(0, n.b.Op("Softmax", {n.Real(0)}, {{"kind", "log_softmax"}, {"axis", int64_t{-1}}}));
  return {};
}

Status L2Normalization(LiteNode& n) {
  Builder& b = n.b;
  Value* x = n.Real(0);
  Value* norm = Reduced(b, "l2", x, {-1}, true);
  norm = Binary(b, "max", norm, ScalarLike(b, x, 1e-6));
  n.OutReal(0, n.Activate(Binary(b, "div", x, norm), n.Options<fb::L2NormOptions>().activation()));
  return {};
}

// Sums the squares of 2 * radius + 1 channels. Lrn divides alpha by this number, so alpha is multiplied by it
// here.
Status LocalResponseNormalization(LiteNode& n) {
  const auto& o = n.Options<fb::LocalResponseNormalizationOptions>();
  if (o.radius() < 0 || o.radius() > 1 << 20) return n.Bad("the radius is ", o.radius());
  const int64_t size = 2 * int64_t{o.radius()} + 1;
  Value* y = n.b.Op("Lrn", {n.Real(0, Layout::kFirst)},
                    {{"size", size},
                     {"alpha", static_cast<double>(o.alpha()) * static_cast<double>(size)},
                     {"beta", static_cast<double>(o.beta())},
                     {"bias", static_cast<double>(o.bias())}});
  n.OutReal(0, y, Layout::kFirst);
  return {};
}

Status Cumsum(LiteNode& n) {
  const auto& o = n.Options<fb::CumsumOptions>();
  Value* axis = Reshaped(n.b, Longs64(n.b, n.In(1)), {});
  n.OutReal(0, n.b.Op("Cumulative", {n.Real(0), axis},
                      {{"kind", "sum"}, {"exclusive", o.exclusive()}, {"reverse", o.reverse()}}));
  return {};
}

Status TopK(LiteNode& n) {
  Value* k = Reshaped(n.b, Longs64(n.b, n.In(1)), {1});
  const auto best = n.b.Ops("TopK", {n.In(0), k}, {{"axis", int64_t{-1}}}, 2);
  n.Out(0, best[0]);
  n.Out(1, best[1]);
  return {};
}

}  // namespace

TERN_CONVERTERS(reduce) {
  table.Add("MEAN", 2, ReduceOf("mean"));
  table.Add("SUM", 2, ReduceOf("sum"));
  table.Add("REDUCE_PROD", 2, ReduceOf("prod"));
  table.Add("REDUCE_MAX", 2, ReduceOf("max"));
  table.Add("REDUCE_MIN", 2, ReduceOf("min"));
  table.Add("REDUCE_ANY", 2, ReduceOf("max"));
  table.Add("REDUCE_ALL", 2, ReduceOf("min"));
  table.Add("ARG_MAX", 2, [](LiteNode& n) { return ArgReduce(n, "max"); });
  table.Add("ARG_MIN", 2, [](LiteNode& n) { return ArgReduce(n, "min"); });
  table.Add("SOFTMAX", 1, Softmax);
  table.Add("LOG_SOFTMAX", 1, LogSoftmax);
  table.Add("L2_NORMALIZATION", 1, L2Normalization);
  table.Add("LOCAL_RESPONSE_NORMALIZATION", 1, LocalResponseNormalization);
  table.Add("CUMSUM", 2, Cumsum);
  table.Add("TOPK_V2", 2, TopK);
}

}  // namespace tern::tflite
