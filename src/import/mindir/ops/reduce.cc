// Converts reductions.
#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

// Returns the axes of an argument that is an integer or a tuple. Without axes, all axes are reduced.
std::vector<int64_t> AxesOf(MindNode& n, int i) { return n.Ints(i, {"axis", "dim", "dims"}, {}); }

Value* ReduceTo(Emit& e, const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep) {
  std::vector<Value*> inputs = {x};
  if (!axes.empty()) inputs.push_back(e.b.Ints(axes));
  return e.b.Op("Reduce", inputs, {{"kind", kind}, {"keep_dims", keep}});
}

Value* AsFloat(Emit& e, Value* x) { return IsFloat(x->type.dtype) ? x : e.Cast(x, DType::kF32); }

// Inputs of ReduceSum, ReduceMean, …: x, axis, keep_dims.
Converter Reduce(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Emit e(n);
    const auto axes = AxesOf(n, 1);
    if (axes.empty() && n.Bool(3, {"skip_mode"})) {
      n.OutItem(n.inputs()[0]);
      return {};
    }
    n.Out(ReduceTo(e, kind, n.In(0), axes, n.Bool(2, {"keep_dims"})));
    return {};
  };
}

// Inputs of SumExt, MeanExt and ProdExt: x, dim, keepdim, dtype. Sums and products of integers are i64.
Converter ReduceExt(const char* kind, bool mean) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    Emit e(n);
    Value* x = n.In(0);
    const DType standard = IsFloat(x->type.dtype) ? x->type.dtype : mean ? DType::kF32 : DType::kI64;
    n.Out(ReduceTo(e, kind, e.Cast(x, n.TypeArg(3, {"dtype"}, standard)), AxesOf(n, 1),
                   n.Bool(2, {"keepdim"})));
    return {};
  };
}

// The conjunction or disjunction of bools is the minimum or maximum of the numbers 0 and 1.
Converter ReduceBool(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    Emit e(n);
    Value* x = e.Cast(e.Cast(n.In(0), DType::kBool), DType::kI32);
    n.Out(e.Cast(ReduceTo(e, kind, x, AxesOf(n, 1), n.Bool(2, {"keep_dims", "keepdim"})), DType::kBool));
    return {};
  };
}

Status CountNonZero(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  Emit e(n);
  const DType to = n.TypeArg(n.kAttribute, {"dtype"}, DType::kI64);
  Value* x = e.Cast(e.Cast(n.In(0), DType::kBool), DType::kI64);
  n.Out(e.Cast(ReduceTo(e, "sum", x, AxesOf(n, 1), n.Bool(n.kAttribute, {"keep_dims"})), to));
  return {};
}

// Returns the number of reduced elements as a value of x's type.
Value* CountOf(Emit& e, Value* x, const std::vector<int64_t>& axes) {
  Value* ones = e.Fill(e.ShapeOf(x), x->type.dtype, 1);
  return ReduceTo(e, "sum", ones, axes, true);
}

struct Moments {
  Value *mean, *variance;  // the reduced axes remain, with size 1
};

// The variance divides by count - correction.
Moments MomentsOf(Emit& e, Value* x, const std::vector<int64_t>& axes, int64_t correction) {
  Value* mean = ReduceTo(e, "mean", x, axes, true);
  Value* d = e.Sub(x, mean);
  Value* squares = e.Mul(d, d);
  if (correction == 0) return {mean, ReduceTo(e, "mean", squares, axes, true)};
  Value* divisor = e.Sub(CountOf(e, x, axes), e.Like(x, static_cast<double>(correction)));
  return {mean, e.Div(ReduceTo(e, "sum", squares, axes, true), divisor)};
}

// Removes the reduced axes, which have size 1.
Value* Drop(Emit& e, Value* x, const std::vector<int64_t>& axes, bool keep) {
  if (keep) return x;
  return axes.empty() ? e.Reshape(x, {}) : e.Squeeze(x, axes);
}

// Inputs of Var, Std, VarMean and StdMean: x, dim, correction, keepdim.
Converter Variance(bool root, bool with_mean) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kFloats));
    Emit e(n);
    const auto axes = AxesOf(n, 1);
    const bool keep = n.Bool(3, {"keepdim", "keep_dims"});
    const Moments m = MomentsOf(e, n.In(0), axes, n.Int(2, {"correction", "unbiased"}, 1));
    Value* result = Drop(e, root ? e.Unary("sqrt", m.variance) : m.variance, axes, keep);
    if (with_mean)
      n.Out({result, Drop(e, m.mean, axes, keep)});
    else
      n.Out(result);
    return {};
  };
}

// Returns the standard deviation and the mean.
Status ReduceStd(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  const auto axes = AxesOf(n, 1);
  const bool keep = n.Bool(3, {"keep_dims"});
  const Moments m = MomentsOf(e, n.In(0), axes, n.Bool(2, {"unbiased"}, true) ? 1 : 0);
  n.Out({Drop(e, e.Unary("sqrt", m.variance), axes, keep), Drop(e, m.mean, axes, keep)});
  return {};
}

Status LogSumExp(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  n.Out(ReduceTo(e, "log_sum_exp", AsFloat(e, n.In(0)), AxesOf(n, 1), n.Bool(2, {"keepdim", "keep_dims"})));
  return {};
}

Value* NormOf(Emit& e, Value* x, double p, const std::vector<int64_t>& axes, bool keep) {
  if (p == 2) return ReduceTo(e, "l2", x, axes, keep);
  if (p == 1) return ReduceTo(e, "l1", x, axes, keep);
  Value* magnitude = e.Unary("abs", x);
  if (p > 1e30) return ReduceTo(e, "max", magnitude, axes, keep);
  if (p < -1e30) return ReduceTo(e, "min", magnitude, axes, keep);
  if (p == 0) {
    Value* nonzero = e.Cast(e.Not(e.Binary("equal", x, e.Like(x, 0))), x->type.dtype);
    return ReduceTo(e, "sum", nonzero, axes, keep);
  }
  Value* sum = ReduceTo(e, "sum", e.Binary("pow", magnitude, e.Like(x, p)), axes, keep);
  return e.Binary("pow", sum, e.Like(x, 1 / p));
}

// Inputs of Norm and LinalgVectorNorm: x, p, dim, keepdim, dtype.
Status VectorNorm(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  Value* x = e.Cast(n.In(0), n.TypeArg(4, {"dtype"}, AsFloat(e, n.In(0))->type.dtype));
  n.Out(NormOf(e, x, n.Float(1, {"p", "ord"}, 2), AxesOf(n, 2), n.Bool(3, {"keepdim"})));
  return {};
}

Status LpNorm(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  const bool v2 = n.op() == "LpNormV2";
  const auto axes = n.Ints(v2 ? 2 : n.kAttribute, {"axis", "dim"}, {});
  Value* y = NormOf(e, n.In(0), n.Float(v2 ? 1 : n.kAttribute, {"p"}, 2), axes,
                    n.Bool(v2 ? 3 : n.kAttribute, {"keep_dims", "keepdim"}));
  n.Out(e.Binary("max", y, e.Like(y, n.Float(v2 ? 4 : n.kAttribute, {"epsilon"}, 1e-12))));
  return {};
}

// x / sqrt(max(sum(x²), epsilon))
Status L2Normalize(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  Value* x = n.In(0);
  Value* squares = ReduceTo(e, "sum_square", x, n.Ints(n.kAttribute, {"axis"}, {0}), true);
  Value* limit = e.Like(x, n.Float(n.kAttribute, {"epsilon"}, 1e-4));
  n.Out(e.Div(x, e.Unary("sqrt", e.Binary("max", squares, limit))));
  return {};
}

Converter Cumulative(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    n.Out(n.b.Op(
        "Cumulative", {n.In(0), n.b.Ints({n.Int(1, {"axis"})})},
        {{"kind", kind}, {"exclusive", n.Bool(2, {"exclusive"})}, {"reverse", n.Bool(3, {"reverse"})}}));
    return {};
  };
}

Status CumsumExt(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  Emit e(n);
  Value* x = n.In(0);
  const DType standard = IsFloat(x->type.dtype) ? x->type.dtype : DType::kI64;
  n.Out(n.b.Op("Cumulative", {e.Cast(x, n.TypeArg(2, {"dtype"}, standard)), n.b.Ints({n.Int(1, {"dim"})})},
               {{"kind", "sum"}}));
  return {};
}

Converter Softmax(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kFloats));
    const auto axes = n.Ints(1, {"axis", "dim"}, {-1});
    if (axes.size() != 1) return n.NotYet(axes.size(), " axes");
    Emit e(n);
    Value* x = n.In(0);
    if (n.op() == "LogSoftmaxExt") x = e.Cast(x, n.TypeArg(2, {"dtype"}, x->type.dtype));
    n.Out(n.b.Op("Softmax", {x}, {{"kind", kind}, {"axis", axes[0]}}));
    return {};
  };
}

// Multiplies x by an identity matrix and sums all elements, because Tern has no op that extracts a diagonal.
Status Trace(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, 2, 2));
  Emit e(n);
  n.Out(ReduceTo(e, "sum", e.Mul(n.In(0), n.b.Op("EyeLike", {n.In(0)})), {}, false));
  return {};
}

// Max and Min of all elements.
Converter Extreme(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Emit e(n);
    n.Out(ReduceTo(e, kind, n.In(0), {}, false));
    return {};
  };
}

}  // namespace

TERN_CONVERTERS(reduce) {
  table.Add("ReduceSum", Reduce("sum"));
  table.Add("ReduceMean", Reduce("mean"));
  table.Add("ReduceMax", Reduce("max"));
  table.Add("ReduceMin", Reduce("min"));
  table.Add("ReduceProd", Reduce("prod"));
  table.Add("SumExt", ReduceExt("sum", false));
  table.Add("MeanExt", ReduceExt("mean", true));
  table.Add("ProdExt", ReduceExt("prod", false));
  table.Add("ReduceAll", ReduceBool("min"));
  for (const char* name : {"ReduceAny", "Any", "AnyExt"}) table.Add(name, ReduceBool("max"));
  table.Add("CountNonZero", CountNonZero);
  table.Add("Max", Extreme("max"));
  table.Add("Min", Extreme("min"));
  table.Add("Var", Variance(false, false));
  table.Add("Std", Variance(true, false));
  table.Add("VarMean", Variance(false, true));
  table.Add("StdMean", Variance(true, true));
  table.Add("ReduceStd", ReduceStd);
  table.Add("LogSumExp", LogSumExp);
  for (const char* name : {"Norm", "LinalgVectorNorm"}) table.Add(name, VectorNorm);
  for (const char* name : {"LpNorm", "LpNormV2"}) table.Add(name, LpNorm);
  table.Add("L2Normalize", L2Normalize);
  table.Add("CumSum", Cumulative("sum"));
  table.Add("CumProd", Cumulative("prod"));
  table.Add("CumsumExt", CumsumExt);
  table.Add("Softmax", Softmax("softmax"));
  for (const char* name : {"LogSoftmax", "LogSoftmaxExt"}) table.Add(name, Softmax("log_softmax"));
  for (const char* name : {"Trace", "TraceExt"}) table.Add(name, Trace);
}

}  // namespace tern::mindir
