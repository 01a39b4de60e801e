// Reductions along axes.
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

struct Target {
  Value* x;
  std::vector<int64_t> axes;
  bool keep;
};

// Reads dim and keepdim for a reduction of x. Without dim, or with an empty list, all axes are reduced.
Target TargetOf(AtenNode& n, Value* x) {
  const Arg& dim = n.Get("dim");
  const int rank = x->type.shape.rank();
  std::vector<int64_t> axes;
  if (dim.list())
    axes = n.Ints("dim");
  else if (dim.number())
    axes = {n.Int("dim")};
  if (rank == 0) axes.clear();
  if (axes.empty() && rank > 0)
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  else if (rank > 0)
    axes = Axes(n, axes, rank);
  return {x, axes, n.Bool("keepdim")};
}

Value* ReduceTo(AtenNode& n, const char* kind, const Target& t) {
  if (t.x->type.shape.rank() == 0) return t.x;
  if (t.axes.empty()) return n.b.Op("Reduce", {t.x}, {{"kind", kind}, {"keep_dims", t.keep}});
  return Emit(n.b).Reduce(kind, t.x, t.axes, t.keep);
}

Converter Reduction(const char* kind, bool widen) {
  return [kind, widen](AtenNode& n) -> Status {
    Value* x = n.In("self");
    const DType given = x->type.dtype;
    const DType t = n.Type("dtype", widen && !IsFloat(given) ? DType::kI64 : given);
    n.Out(ReduceTo(n, kind, TargetOf(n, Emit(n.b).Cast(x, t))));
    return {};
  };
}

Status Mean(AtenNode& n) {
  Value* x = n.In("self");
  n.Out(ReduceTo(n, "mean", TargetOf(n, Emit(n.b).Cast(x, n.Type("dtype", FloatOf(x->type.dtype))))));
  return {};
}

// Sums and means of the elements that are not NaN.
Status NanReduce(AtenNode& n, bool mean) {
  Emit e(n.b);
  Value* x = n.In("self");
  if (!IsFloat(x->type.dtype)) return mean ? Mean(n) : Reduction("sum", true)(n);
  x = e.Cast(x, n.Type("dtype", x->type.dtype));
  Value* missing = e.Unary("isnan", x);
  Value* sum = ReduceTo(n, "sum", TargetOf(n, e.Where(missing, e.Like(x, 0), x)));
  if (mean) sum = e.Div(sum, ReduceTo(n, "sum", TargetOf(n, e.Cast(e.Not(missing), x->type.dtype))));
  n.Out(sum);
  return {};
}

// Unlike in other reductions, an empty list of dims means that no axis is reduced.
Status AnyAll(AtenNode& n, const char* kind) {
  Emit e(n.b);
  Value* x = As(n, "self", DType::kBool);
  const Arg& dim = n.Get("dim");
  if (!dim.list() || !dim.items.empty())
    x = e.Cast(ReduceTo(n, kind, TargetOf(n, e.Cast(x, DType::kI32))), DType::kBool);
  n.Out(n.TypeOf("self") == DType::kU8 ? e.Cast(x, DType::kU8) : x);
  return {};
}

Value* Position(AtenNode& n, Value* x, const char* kind, int64_t axis, bool keep) {
  Emit e(n.b);
  if (x->type.shape.rank() == 0) return e.Long(0);
  return n.b.Op("ArgReduce", {x}, {{"kind", kind}, {"axis", axis}, {"keep_dims", keep}});
}

// Converts max and min. Without dim, they reduce all elements. With dim, they also return positions.
Status Extreme(AtenNode& n, const char* kind) {
  Value* x = n.In("self");
  Emit e(n.b);
  const bool logical = x->type.dtype == DType::kBool;
  if (logical) x = e.Cast(x, DType::kU8);
  Value* y = ReduceTo(n, kind, TargetOf(n, x));
  n.Out(logical ? e.Cast(y, DType::kBool) : y);
  if (n.schema.returns.size() > 1) n.Out(Position(n, x, kind, n.Int("dim"), n.Bool("keepdim")));
  return {};
}

Status ArgExtreme(AtenNode& n, const char* kind) {
  Value* x = n.In("self");
  Emit e(n.b);
  const int rank = x->type.shape.rank();
  if (n.Has("dim")) {
    n.Out(Position(n, x, kind, n.Int("dim"), n.Bool("keepdim")));
    return {};
  }
  if (n.Bool("keepdim") && rank < 0) return n.NotYet("keepdim for a tensor of unknown rank");
  Value* y = Position(n, rank == 0 ? x : e.Reshape(x, {-1}), kind, 0, false);
  if (n.Bool("keepdim") && rank > 0) y = e.Reshape(y, std::vector<int64_t>(static_cast<size_t>(rank), 1));
  n.Out(y);
  return {};
}

Status AMinMax(AtenNode& n) {
  const Target t = TargetOf(n, n.In("self"));
  n.Out({ReduceTo(n, "min", t), ReduceTo(n, "max", t)});
  return {};
}

Status Variance(AtenNode& n, bool root, bool with_mean) {
  Emit e(n.b);
  const Target t = TargetOf(n, n.In("self"));
  if (t.axes.empty() && t.x->type.shape.rank() < 0)
    return n.NotYet("all elements of a tensor of unknown rank");
  double correction = n.HasParameter("correction") ? n.Float("correction", 1)
                      : n.Bool("unbiased", true)   ? 1
                                                   : 0;
  const Moments m = VarianceOf(n.b, t.x, t.axes, correction);
  const auto shaped = [&](Value* v) { return t.keep || t.axes.empty() ? v : e.Squeeze(v, t.axes); };
  n.Out(shaped(root ? e.Unary("sqrt", m.variance) : m.variance));
  if (with_mean) n.Out(shaped(m.mean));
  return {};
}

Status Norm(AtenNode& n, const char* order) {
  Emit e(n.b);
  Value* x = n.In("self");
  x = e.Cast(x, n.Type("dtype", FloatOf(x->type.dtype)));
  const Target t = TargetOf(n, x);
  if (n.Get(order).kind == Arg::Kind::kString) return n.NotYet("the norm '", n.Text(order), "'");
  const double p = n.Float(order, 2);
  if (p == 2 || p == 1) {
    n.Out(ReduceTo(n, p == 2 ? "l2" : "l1", t));
    return {};
  }
  Target magnitude = t;
  magnitude.x = e.Unary("abs", x);
  if (std::isinf(p)) {
    n.Out(ReduceTo(n, p > 0 ? "max" : "min", magnitude));
    return {};
  }
  if (p == 0) {
    magnitude.x = e.Cast(e.Not(e.Binary("equal", x, e.Like(x, 0))), x->type.dtype);
    n.Out(ReduceTo(n, "sum", magnitude));
    return {};
  }
  magnitude.x = e.Binary("pow", magnitude.x, e.Like(x, p));
  Value* sum = ReduceTo(n, "sum", magnitude);
  n.Out(e.Binary("pow", sum, e.Like(x, 1 / p)));
  return {};
}

// With an order, the norm of two axes is that of a matrix: the largest or smallest sum of a column (order 1
// and -1) or row (infinity). Without, it is that of the vector of all elements.
Status LinalgNorm(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  std::vector<int64_t> axes = n.Get("dim").list() ? n.Ints("dim") : std::vector<int64_t>{0, 1};
  const bool matrix = n.Has("dim") ? n.Get("dim").items.size() == 2 : rank < 0 || rank == 2;
  if (!n.Has("ord") || !matrix) return Norm(n, "ord");
  if (n.Get("ord").kind == Arg::Kind::kString) return n.NotYet("the norm '", n.Text("ord"), "'");
  const double p = n.Float("ord");
  if (std::fabs(p) != 1 && !std::isinf(p)) return n.NotYet("the matrix norm of order ", p);
  if (std::isinf(p)) std::swap(axes[0], axes[1]);
  x = e.Unary("abs", e.Cast(x, n.Type("dtype", FloatOf(x->type.dtype))));
  Value* sums = e.Reduce("sum", x, {Axis(n, axes[0], rank)}, true);
  Value* y = e.Reduce(p > 0 ? "max" : "min", sums, {Axis(n, axes[1], rank)}, true);
  n.Out(n.Bool("keepdim") ? y : e.Squeeze(y, Axes(n, axes, rank)));
  return {};
}

Status LogSumExp(AtenNode& n) {
  n.Out(ReduceTo(n, "log_sum_exp", TargetOf(n, InFloat(n, "self"))));
  return {};
}

Status Cumulative(AtenNode& n, const char* kind) {
  Emit e(n.b);
  Value* x = n.In("self");
  x = e.Cast(x, n.Type("dtype", IsFloat(x->type.dtype) ? x->type.dtype : DType::kI64));
  n.Out(x->type.shape.rank() == 0 ? x : n.b.Op("Cumulative", {x, e.Long(n.Int("dim"))}, {{"kind", kind}}));
  return {};
}

Status CountNonzero(AtenNode& n) {
  Emit e(n.b);
  Value* x = e.Cast(As(n, "self", DType::kBool), DType::kI64);
  n.Out(ReduceTo(n, "sum", TargetOf(n, x)));
  return {};
}

// Emits the running maximum or minimum. Row i of `table` contains the elements 0 to i of the axis, and the
// rows are reduced.
Status RunningExtreme(AtenNode& n, bool largest) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  const int64_t axis = Axis(n, n.Int("dim"), rank);
  Value* last = e.Transpose(x, MovedPerm(rank, axis, rank - 1));
  Value* count = ScalarValue(n.b, SizeOf(n.b, x, axis), DType::kI64);
  Value *row = e.Unsqueeze(e.Iota(count), {1}), *column = e.Unsqueeze(e.Iota(count), {0});
  Value* seen = e.Binary("less_equal", column, row);
  const bool real = IsFloat(x->type.dtype);
  if (!real) return n.NotYet("elements of type ", DTypeName(x->type.dtype));
  Value* table = e.Where(seen, e.Unsqueeze(last, {-2}), e.Like(x, largest ? -INFINITY : INFINITY));
  const char* kind = largest ? "max" : "min";
  const auto back = [&](Value* v) { return e.Transpose(v, MovedPerm(rank, rank - 1, axis)); };
  n.Out(back(e.Reduce(kind, table, {-1}, false)));
  n.Out(back(n.b.Op("ArgReduce", {table},
                    {{"kind", kind}, {"axis", int64_t{-1}}, {"keep_dims", false}, {"last", true}})));
  return {};
}

}  // namespace

Value* MeanOf(Builder& b, Value* x, const std::vector<int64_t>& axes, bool keep) {
  if (x->type.shape.rank() == 0) return x;
  return Emit(b).Reduce("mean", x, axes, keep);
}

Value* CountOf(Builder& b, Value* x, const std::vector<int64_t>& axes) {
  Emit e(b);
  Value* count = nullptr;
  double known = 1;
  for (const int64_t a : axes) {
    const Arg size = SizeOf(b, x, a);
    if (size.known()) {
      known *= static_cast<double>(size.integer);
      continue;
    }
    Value* v = e.Cast(ScalarValue(b, size, DType::kI64), x->type.dtype);
    count = count ? e.Mul(count, v) : v;
  }
  Value* fixed = e.Like(x, known);
  return !count ? fixed : known == 1 ? count : e.Mul(count, fixed);
}

Moments VarianceOf(Builder& b, Value* x, const std::vector<int64_t>& axes, double correction) {
  Emit e(b);
  Value* mean = MeanOf(b, x, axes, true);
  Value* gap = e.Sub(x, mean);
  Value* variance = MeanOf(b, e.Mul(gap, gap), axes, true);
  if (correction != 0) {
    Value* count = CountOf(b, x, axes);
    variance =
        e.Mul(variance, e.Div(count, e.Binary("max", e.Sub(count, e.Like(x, correction)), e.Like(x, 0))));
  }
  return {variance, mean};
}

TERN_CONVERTERS(reduce) {
  table.Add("aten::sum", Reduction("sum", true));
  table.Add("aten::prod", Reduction("prod", true));
  table.Add("aten::amax", Reduction("max", false));
  table.Add("aten::amin", Reduction("min", false));
  table.Add("aten::mean", Mean);
  table.Add("aten::any", [](AtenNode& n) { return AnyAll(n, "max"); });
  table.Add("aten::all", [](AtenNode& n) { return AnyAll(n, "min"); });
  table.Add("aten::max", [](AtenNode& n) { return Extreme(n, "max"); });
  table.Add("aten::min", [](AtenNode& n) { return Extreme(n, "min"); });
  table.Add("aten::argmax", [](AtenNode& n) { return ArgExtreme(n, "max"); });
  table.Add("aten::argmin", [](AtenNode& n) { return ArgExtreme(n, "min"); });
  table.Add("aten::nansum", [](AtenNode& n) { return NanReduce(n, false); });
  table.Add("aten::nanmean", [](AtenNode& n) { return NanReduce(n, true); });
  table.Add("aten::aminmax", AMinMax);
  table.Add("aten::var", [](AtenNode& n) { return Variance(n, false, false); });
  table.Add("aten::std", [](AtenNode& n) { return Variance(n, true, false); });
  table.Add("aten::var_mean", [](AtenNode& n) { return Variance(n, false, true); });
  table.Add("aten::std_mean", [](AtenNode& n) { return Variance(n, true, true); });
  table.Add("aten::norm", [](AtenNode& n) { return Norm(n, "p"); });
  table.Add("aten::linalg_vector_norm", [](AtenNode& n) { return Norm(n, "ord"); });
  table.Add("aten::linalg_norm", LinalgNorm);
  table.Add("aten::frobenius_norm", [](AtenNode& n) { return Norm(n, "p"); });
  table.Add("aten::logsumexp", LogSumExp);
  table.Add("aten::cumsum", [](AtenNode& n) { return Cumulative(n, "sum"); });
  table.Add("aten::cumprod", [](AtenNode& n) { return Cumulative(n, "prod"); });
  table.Add("aten::cummax", [](AtenNode& n) { return RunningExtreme(n, true); });
  table.Add("aten::cummin", [](AtenNode& n) { return RunningExtreme(n, false); });
  table.Add("aten::count_nonzero", CountNonzero);
}

}  // namespace tern::torch
