// Converts reductions, searches along an axis and cumulative functions.
#include <algorithm>
#include <limits>

#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

// Reduces spatial axes of a tensor that has channels first, without a transpose. Returns false if other axes
// are reduced.
bool ReduceSpatial(TfNode& n, const char* kind, bool keep) {
  if (!n.PrefersChannelsFirst(0) || !n.Constant(1)) return false;
  Value* x = n.ChannelsFirst(0);
  const int rank = x->type.shape.rank();
  std::vector<int64_t> axes;
  for (int64_t axis : ToLongs(*n.Constant(1))) {
    axis += axis < 0 ? rank : 0;
    if (axis < 1 || axis >= rank - 1) return false;
    axes.push_back(axis + 1);
  }
  if (axes.empty() || (!keep && static_cast<int>(axes.size()) != rank - 2)) return false;
  Value* y = n.Reduce(kind, x, axes, keep);
  if (keep)
    n.OutChannelsFirst(0, y);
  else
    n.Out(0, y);
  return true;
}

Status ReduceWith(TfNode& n, const char* kind) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  const bool keep = n.Bool("keep_dims");
  if (ReduceSpatial(n, kind, keep)) return {};
  Value* axes = n.In(1);
  if (axes->type.shape.rank() == 0) axes = n.Vector(axes);
  n.Out(0, n.Op("Reduce", {n.In(0), axes}, {{"kind", kind}, {"keep_dims", keep}, {"noop_if_empty", true}}));
  return {};
}

Converter ReduceOf(const char* kind) {
  return [kind](TfNode& n) { return ReduceWith(n, kind); };
}

Status Logical(TfNode& n, const char* kind) {
  Value* axes = n.In(1);
  if (axes->type.shape.rank() == 0) axes = n.Vector(axes);
  Value* numbers = n.Cast(n.In(0), DType::kI32);
  Value* y = n.Op("Reduce", {numbers, axes},
                  {{"kind", kind}, {"keep_dims", n.Bool("keep_dims")}, {"noop_if_empty", true}});
  n.Out(0, n.Cast(y, DType::kBool));
  return {};
}

// The mean of integers rounds towards zero, as the sum divided by the count does.
Status Mean(TfNode& n) {
  if (!IsInt(n.At(0).type().dtype)) return ReduceWith(n, "mean");
  Value* axes = n.In(1);
  if (axes->type.shape.rank() == 0) axes = n.Vector(axes);
  const AttrList attrs = {{"kind", "sum"}, {"keep_dims", n.Bool("keep_dims")}, {"noop_if_empty", true}};
  Value* sum = n.Op("Reduce", {n.In(0), axes}, attrs);
  Value* ones = n.Op("Fill", {n.ShapeOf(n.In(0))}, {{"value", n.Numbers(n.TypeOf(0), {1}, {1})}});
  n.Out(0, n.Binary("div", sum, n.Op("Reduce", {ones, axes}, attrs)));
  return {};
}

Status Arg(TfNode& n, const char* kind) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_ASSIGN(const int64_t axis, n.Axis(1, rank));
  TERN_ASSIGN(const DType to, n.DTypeAttr("output_type"));
  n.Out(0, n.Cast(n.Op("ArgReduce", {n.In(0)}, {{"kind", kind}, {"axis", axis}, {"keep_dims", false}}), to));
  return {};
}

Status TopKWith(TfNode& n, Value* k, DType indices) {
  const auto out = n.Ops("TopK", {n.In(0), k}, {{"axis", -1}, {"sorted", true}}, 2);
  n.Out(0, out[0]);
  n.Out(1, n.Cast(out[1], indices));
  return {};
}

Status TopKV2(TfNode& n) {
  DType indices = DType::kI32;
  if (n.HasAttr("index_type")) {
    TERN_ASSIGN(indices, n.DTypeAttr("index_type"));
  }
  return TopKWith(n, n.Vector(n.In(1)), indices);
}

// The n-th smallest element along the last axis, or the n-th largest if `reverse` is set.
Status NthElement(TfNode& n) {
  Value* at = n.Vector(n.In(1));
  const bool reverse = n.Bool("reverse");
  Value* k = n.Binary("add", n.Cast(at, DType::kI64), n.b.Ints({1}));
  const auto out = n.Ops("TopK", {n.In(0), k}, {{"axis", -1}, {"sorted", true}, {"largest", reverse}}, 2);
  n.Out(0, n.Op("Gather", {out[0], n.Cast(n.Scalar(at), DType::kI64)}, {{"axis", -1}}));
  return {};
}

// Returns whether the target's score is among the k best.
Status InTopK(TfNode& n, Value* k) {
  Value *scores = n.In(0), *target = n.Cast(n.In(1), DType::kI64);
  Value* depth = n.Scalar(n.DimOf(scores, 1));
  Value* inside = n.Binary("and", n.Binary("greater_equal", target, n.b.Scalar(DType::kI64, 0)),
                           n.Binary("less", target, depth));
  Value* safe = n.Op("Where", {inside, target, n.b.Scalar(DType::kI64, 0)});
  Value* own = n.Op("GatherElements", {scores, n.Unsqueeze(safe, {1})}, {{"axis", 1}});
  Value* better = n.Reduce("sum", n.Cast(n.Binary("greater", scores, own), DType::kI64), {1}, false);
  Value* good = n.Binary("less", better, n.Cast(n.Op("Reshape", {k, n.b.Ints({})}), DType::kI64));
  Value* finite = n.Unary("not", n.Binary("or", n.Op("IsInf", {own}), n.Unary("isnan", own)));
  n.Out(0, n.Binary("and", n.Binary("and", good, inside), n.Squeeze(finite, {1})));
  return {};
}

Converter Cumulative(const char* kind) {
  return [kind](TfNode& n) -> Status {
    if (n.IsComplex(0)) return n.NotYet("complex numbers");
    n.Out(0, n.Op("Cumulative", {n.In(0), n.Op("Reshape", {n.In(1), n.b.Ints({})})},
                  {{"kind", kind}, {"exclusive", n.Bool("exclusive")}, {"reverse", n.Bool("reverse")}}));
    return {};
  };
}

// log(cumsum(exp(x - m))) + m, where m is the largest element along the axis.
Status CumulativeLogsumexp(TfNode& n) {
  Value *x = n.In(0), *axis = n.Op("Reshape", {n.In(1), n.b.Ints({})});
  // The least finite number instead of -inf, because -inf - -inf is NaN.
  const double least = x->type.dtype == DType::kF64    ? std::numeric_limits<double>::lowest()
                       : x->type.dtype == DType::kF16  ? -65504.0
                       : x->type.dtype == DType::kBF16 ? -3.3895313892515355e38
                                                       : std::numeric_limits<float>::lowest();
  Value* m = n.Op("Reduce", {x, n.Vector(axis)}, {{"kind", "max"}});
  m = n.Binary("max", m, n.Like(m, least));
  Value* sum = n.Op("Cumulative", {n.Unary("exp", n.Binary("sub", x, m)), axis},
                    {{"exclusive", n.Bool("exclusive")}, {"reverse", n.Bool("reverse")}});
  Value* y = n.Binary("add", n.Unary("log", sum), m);
  n.Out(0, y);
  return {};
}

}  // namespace

TERN_CONVERTERS(reduce) {
  table.Add("Sum", ReduceOf("sum"));
  table.Add("Max", ReduceOf("max"));
  table.Add("Min", ReduceOf("min"));
  table.Add("Prod", ReduceOf("prod"));
  table.Add("EuclideanNorm", ReduceOf("l2"));
  table.Add("Mean", Mean);
  table.Add("All", [](TfNode& n) { return Logical(n, "min"); });
  table.Add("Any", [](TfNode& n) { return Logical(n, "max"); });
  table.Add("ArgMax", [](TfNode& n) { return Arg(n, "max"); });
  table.Add("ArgMin", [](TfNode& n) { return Arg(n, "min"); });
  table.Add("TopKV2", TopKV2);
  table.Add("TopK", [](TfNode& n) { return TopKWith(n, n.b.Ints({n.Int("k")}), DType::kI32); });
  table.Add("NthElement", NthElement);
  table.Add("InTopKV2", [](TfNode& n) { return InTopK(n, n.In(2)); });
  table.Add("InTopK",
            [](TfNode& n) { return InTopK(n, n.b.Scalar(DType::kI64, static_cast<double>(n.Int("k")))); });
  table.Add("Cumsum", Cumulative("sum"));
  table.Add("Cumprod", Cumulative("prod"));
  table.Add("CumulativeLogsumexp", CumulativeLogsumexp);
}

}  // namespace tern::tensorflow
