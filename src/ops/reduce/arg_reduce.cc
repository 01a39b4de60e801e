// ArgReduce: the index of the largest or smallest element along an axis.
#include <cmath>

#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/reduce/axes.h"

namespace tern {
namespace {

enum class ArgReduceKind { kMax, kMin };

struct ArgReduce {
  ArgReduceKind kind = ArgReduceKind::kMax;
  int64_t axis = 0;
  bool keep_dims = true, last = false;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"max", "min"}, "the element to find");
    v("axis", axis, "the axis to search; a negative axis counts from the end");
    v("keep_dims", keep_dims, "keep the axis with size 1");
    v("last", last,
      "if several elements are the largest or smallest, return the index of the last; otherwise of the first");
  }
};

Status Infer(const ArgReduce& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  Shape y;
  if (x.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    if (x[axis].Is(0)) return InvalidModel("axis ", op.axis, " has no elements");
    std::vector<bool> mask(x.dims.size(), false);
    mask[static_cast<size_t>(axis)] = true;
    y = Shape(ReducedDims(x.dims, mask, op.keep_dims));
  }
  c.Out("y", DType::kI64, std::move(y));
  return {};
}

// Returns whether a is preferred to b. NaN is preferred to all numbers.
template <class T> bool Better(ArgReduceKind kind, T a, T b) {
  if (a != a || b != b) return a != a && b == b;
  return kind == ArgReduceKind::kMax ? a > b : a < b;
}

template <class T, class Load>
void Search(const ArgReduce& op, const AxisView& view, const Tensor& x, Tensor& y, Load load) {
  int64_t out = 0;
  view.EachLine([&](int64_t first) {
    int64_t best = 0;
    for (int64_t i = 1; i < view.length; ++i) {
      const T here = static_cast<T>(load(x, first + i * view.inner)),
              there = static_cast<T>(load(x, first + best * view.inner));
      if (Better(op.kind, here, there) || (op.last && !Better(op.kind, there, here))) best = i;
    }
    y.data<int64_t>()[out++] = best;
  });
}

Status Reference(const ArgReduce& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  std::vector<bool> mask(x.dims().size(), false);
  mask[static_cast<size_t>(axis)] = true;
  Tensor& y = c.Out("y", ReducedDims(x.dims(), mask, op.keep_dims));
  const AxisView view(x.dims(), axis);
  if (view.length == 0) return InvalidArgument("axis ", op.axis, " of ", x.Describe(), " has no elements");
  if (IsFloat(x.dtype()))
    Search<double>(op, view, x, y, LoadDouble);
  else if (x.dtype() == DType::kU64)
    Search<uint64_t>(op, view, x, y, LoadLong);
  else
    Search<int64_t>(op, view, x, y, LoadLong);
  return {};
}

std::optional<AxisMap> ArgReduceAxes(const Node& node) {
  const ArgReduce& op = node.attrs.As<ArgReduce>();
  AxisMap map{.any_order = false};
  if (!op.keep_dims) map.dropped = {op.axis};
  return map;
}

}  // namespace

TERN_OP(ArgReduce) {
  return OpDef::Of<ArgReduce>("y = index of the largest or smallest element of x along axis")
      .In("x", kNumbers | kBools)
      .Out("y", SetOf(DType::kI64))
      .Flops(PerInput(1))
      .Batch(&BatchItems::AlongOtherAxis)
      .Axes(ArgReduceAxes, RenameAxisAttr)
      .KindsAreNames("arg_")
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
