// Cumulative: running sums or products along an axis.
#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/reduce/axes.h"

namespace tern {
namespace {

enum class CumulativeKind { kSum, kProd };

struct Cumulative {
  CumulativeKind kind = CumulativeKind::kSum;
  bool exclusive = false, reverse = false;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"sum", "prod"}, "the function");
    v("exclusive", exclusive, "result i excludes element i");
    v("reverse", reverse, "accumulate from the end");
  }
};

Status Infer(const Cumulative&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (const auto axis = c.LongsOf("axis")) {
    if (axis->size() != 1)
      return InvalidModel("input 'axis' must hold one number, got ", c.In("axis").ToString());
    if (x.ranked) TERN_TRY(NormalizeAxis((*axis)[0], x.rank()).status());
  }
  c.Out("y", c.In("x"));
  return {};
}

// T is double for floats, and uint64_t for integers, which wrap.
template <class T, class Load, class Store>
void Run(const Cumulative& op, const AxisView& view, const Tensor& x, Tensor& y, Load load, Store store) {
  view.EachLine([&](int64_t first) {
    T sum = op.kind == CumulativeKind::kSum ? T(0) : T(1);
    for (int64_t i = 0; i < view.length; ++i) {
      const int64_t at = first + (op.reverse ? view.length - 1 - i : i) * view.inner;
      const T before = sum, v = static_cast<T>(load(x, at));
      sum = op.kind == CumulativeKind::kSum ? sum + v : sum * v;
      store(y, at, op.exclusive ? before : sum);
    }
  });
}

Status Reference(const Cumulative& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto axes = c.Longs("axis");
  if (axes.size() != 1)
    return InvalidArgument("input 'axis' must hold one number, got ", c.In("axis").Describe());
  TERN_ASSIGN(const int axis, NormalizeAxis(axes[0], x.rank()));
  Tensor& y = c.Out("y", x.dims());
  const AxisView view(x.dims(), axis);
  const auto store_long = [](Tensor& t, int64_t i, uint64_t v) { StoreLong(t, i, static_cast<int64_t>(v)); };
  if (IsFloat(x.dtype()))
    Run<double>(op, view, x, y, LoadDouble, StoreDouble);
  else
    Run<uint64_t>(op, view, x, y, LoadLong, store_long);
  return {};
}

}  // namespace

TERN_OP(Cumulative) {
  return OpDef::Of<Cumulative>("y[i] = sum or product of x[0..i] along axis")
      .In("x", kNumbers)
      .Setting("axis", kIndices)
      .Out("y", kNumbers)
      .Flops(PerInput(1))
      .Batch(No{"the axis is an input"})
      .Axes(No{"the axis is an input"})
      .KindsAreNames("cum_")
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
