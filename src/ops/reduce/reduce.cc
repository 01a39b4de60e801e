// Reduce: sum, mean, maximum and similar functions along some axes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/below.h"
#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/elementwise/broadcast.h"
#include "ops/reduce/axes.h"

namespace tern {
namespace {

enum class ReduceKind { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kLogSum, kLogSumExp, kSumSquare };

struct Reduce {
  ReduceKind kind = ReduceKind::kSum;
  bool keep_dims = true, noop_if_empty = false;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind,
           {"sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "log_sum_exp", "sum_square"},
           "the function");
    v("keep_dims", keep_dims, "keep reduced dims with size 1");
    v("noop_if_empty", noop_if_empty,
      "if axes is absent or empty: true means that no axis is reduced, false that all are");
  }
};

// Returns a mask of the reduced axes, or nullopt if the axes are not known yet. `absent` is true if the node
// has no input `axes`.
Result<std::optional<std::vector<bool>>> MaskOf(const Reduce& op, std::optional<std::vector<int64_t>> axes,
                                                bool absent, int rank) {
  if (!absent && !axes) return std::optional<std::vector<bool>>();
  if (absent || axes->empty())
    return std::optional(std::vector<bool>(static_cast<size_t>(rank), !op.noop_if_empty));
  // numpy allows reducing a scalar along axis 0.
  TERN_ASSIGN(auto mask, AxisMask(*axes, std::max(rank, 1)));
  mask.resize(static_cast<size_t>(rank));
  return std::optional(std::move(mask));
}

// Propagates content. For example, the product of the content [N,3] is 3*N.
void PassContent(const Reduce& op, const std::vector<bool>& mask, InferContext& c) {
  const auto x = c.ContentOf("x");
  if (!x || x->empty() || mask.size() != 1 || !mask[0] || !IsInt(c.TypeOf("x"))) return;
  if (op.kind != ReduceKind::kSum && op.kind != ReduceKind::kProd && op.kind != ReduceKind::kMax &&
      op.kind != ReduceKind::kMin)
    return;
  Dim y = (*x)[0];
  for (size_t i = 1; i < x->size(); ++i) {
    const Dim& d = (*x)[i];
    y = op.kind == ReduceKind::kSum    ? y + d
        : op.kind == ReduceKind::kProd ? y * d
        : op.kind == ReduceKind::kMax  ? Max(y, d)
                                       : Min(y, d);
  }
  c.OutContent("y", {y});
}

Status Infer(const Reduce& op, InferContext& c) {
  const DType t = c.TypeOf("x");
  if (t == DType::kBool && op.kind != ReduceKind::kMax && op.kind != ReduceKind::kMin)
    return InvalidModel("input 'x' must be a number, got ", c.In("x").ToString());
  const Shape& x = c.ShapeOf("x");
  if (!x.ranked) {
    const bool scalar = !c.Has("axes") && !op.noop_if_empty && !op.keep_dims;
    c.Out("y", t, scalar ? Shape(std::vector<Dim>()) : Shape());
    return {};
  }
  TERN_ASSIGN(auto mask, MaskOf(op, c.LongsOf("axes"), !c.Has("axes"), x.rank()));
  if (mask) {
    c.Out("y", t, Shape(ReducedDims(x.dims, *mask, op.keep_dims)));
    PassContent(op, *mask, c);
  } else if (op.keep_dims) {
    c.Out("y", t, Shape(std::vector<Dim>(x.dims.size())));
  } else {
    const Shape& axes = c.ShapeOf("axes");
    const bool counted =
        axes.rank() == 1 && axes[0].known() && axes[0].value() > 0 && axes[0].value() <= x.rank();
    c.Out("y", t,
          counted ? Shape(std::vector<Dim>(x.dims.size() - static_cast<size_t>(axes[0].value()))) : Shape());
  }
  return {};
}

double Start(ReduceKind kind) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return kind == ReduceKind::kMax    ? -kInf
         : kind == ReduceKind::kMin  ? kInf
         : kind == ReduceKind::kProd ? 1
                                     : 0;
}

double Step(ReduceKind kind, double sum, double x) {
  switch (kind) {
    case ReduceKind::kMax:
      return std::isnan(sum) || Below(x, sum) ? sum : x;  // NaN propagates
    case ReduceKind::kMin:
      return std::isnan(sum) || Below(sum, x) ? sum : x;
    case ReduceKind::kProd:
      return sum * x;
    case ReduceKind::kL1:
      return sum + std::fabs(x);
    case ReduceKind::kL2:
    case ReduceKind::kSumSquare:
      return sum + x * x;
    default:
      return sum + x;
  }
}

double Finish(ReduceKind kind, double sum, double count) {
  switch (kind) {
    case ReduceKind::kMean:
      return sum / count;
    case ReduceKind::kL2:
      return std::sqrt(sum);
    case ReduceKind::kLogSum:
      return std::log(sum);
    default:
      return sum;
  }
}

// Subtracts the largest element before exp, to avoid overflow.
std::vector<double> LogSumExp(const Tensor& x, const Dims& kept) {
  std::vector<double> top(static_cast<size_t>(CountOf(kept)), Start(ReduceKind::kMax)), sum(top.size(), 0);
  BroadcastWalk first(kept, x.dims()), second(kept, x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    double& slot = top[static_cast<size_t>(first.Next())];
    slot = Step(ReduceKind::kMax, slot, LoadDouble(x, i));
  }
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<size_t>(second.Next());
    const double v = LoadDouble(x, i);
    sum[at] += v == top[at] ? 1 : std::exp(v - top[at]);  // avoids inf - inf, which is NaN
  }
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] = sum[i] == 0 ? Start(ReduceKind::kMax) : top[i] + std::log(sum[i]);
  return sum;
}

void ReduceFloats(ReduceKind kind, const Tensor& x, const Dims& kept, Tensor& y) {
  if (kind == ReduceKind::kLogSumExp) return FromDoubles(LogSumExp(x, kept), y);
  std::vector<double> sums(static_cast<size_t>(y.size()), Start(kind));
  BroadcastWalk at(kept, x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    double& sum = sums[static_cast<size_t>(at.Next())];
    sum = Step(kind, sum, LoadDouble(x, i));
  }
  const double count = y.size() ? static_cast<double>(x.size()) / static_cast<double>(y.size()) : 0;
  for (double& sum : sums) sum = Finish(kind, sum, count);
  FromDoubles(sums, y);
}

// Returns the value that a reduction of integers starts from. It is also the result if there are no elements.
int64_t LongStart(ReduceKind kind, DType t) {
  if (kind == ReduceKind::kProd) return 1;
  if (kind != ReduceKind::kMax && kind != ReduceKind::kMin) return 0;
  const int bits = t == DType::kBool ? 1 : BitWidth(t);
  if (!IsSignedInt(t))
    return kind == ReduceKind::kMax ? 0 : static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
  const int64_t low = static_cast<int64_t>(~uint64_t{0} << (bits - 1));
  return kind == ReduceKind::kMax ? low : ~low;
}

int64_t LongStep(ReduceKind kind, int64_t sum, int64_t x, bool is_signed) {
  const auto us = static_cast<uint64_t>(sum), ux = static_cast<uint64_t>(x);
  const bool less = is_signed ? x < sum : ux < us;
  switch (kind) {
    case ReduceKind::kMax:
      return less ? sum : x;
    case ReduceKind::kMin:
      return less ? x : sum;
    case ReduceKind::kProd:
      return static_cast<int64_t>(us * ux);
    case ReduceKind::kL1:
      return static_cast<int64_t>(is_signed && x < 0 ? us - ux : us + ux);
    case ReduceKind::kSumSquare:
      return static_cast<int64_t>(us + ux * ux);
    default:
      return static_cast<int64_t>(us + ux);
  }
}

void ReduceLongs(ReduceKind kind, const Tensor& x, const Dims& kept, Tensor& y) {
  const bool is_signed = IsSignedInt(x.dtype());
  std::vector<int64_t> sums(static_cast<size_t>(y.size()), LongStart(kind, x.dtype()));
  BroadcastWalk at(kept, x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t& sum = sums[static_cast<size_t>(at.Next())];
    sum = LongStep(kind, sum, LoadLong(x, i), is_signed);
  }
  FromLongs(sums, y);
}

Status Reference(const Reduce& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  std::optional<std::vector<int64_t>> axes;
  if (c.Has("axes")) axes = c.Longs("axes");
  TERN_ASSIGN(auto mask, MaskOf(op, axes, !axes, x.rank()));
  const Dims kept = ReducedDims(x.dims(), *mask, true);
  Tensor& y = c.Out("y", ReducedDims(x.dims(), *mask, op.keep_dims));
  const bool exact = op.kind != ReduceKind::kMean && op.kind != ReduceKind::kL2 &&
                     op.kind != ReduceKind::kLogSum && op.kind != ReduceKind::kLogSumExp;
  if (IsFloat(x.dtype()) || !exact)
    ReduceFloats(op.kind, x, kept, y);
  else
    ReduceLongs(op.kind, x, kept, y);
  return {};
}

// Items are independent if the outermost axis is not reduced. Without axes, either all axes are reduced or
// none. The function returns false in both cases.
bool Batch(BatchItems& b) {
  const Tensor* axes = b.Known(1);
  if (!axes || axes->size() == 0) return false;
  const auto rank = static_cast<int64_t>(b.InDims(0).size());
  for (int64_t axis : ToLongs(*axes))
    if (axis == 0 || axis == -rank) return false;
  return b.FirstInput();
}

std::optional<AxisMap> ReduceAxes(const Node& node) {
  const auto axes = node.input(1) ? IntsOf(node.input(1)) : std::vector<int64_t>{};
  if (!axes) return std::nullopt;
  if (node.attrs.As<Reduce>().keep_dims) return AxisMap{};
  if (axes->empty()) return std::nullopt;
  return AxisMap{.any_order = false, .dropped = *axes};
}
void Rename(const Node&, AxisRenaming& r) { r.MoveAxesInput(1); }

}  // namespace

TERN_OP(Reduce) {
  return OpDef::Of<Reduce>("y = the function `kind` of x along axes; without axes, along all axes")
      .In("x", kNumbers | kBools)
      .OptSetting("axes", kIndices)
      .Out("y", kNumbers | kBools)
      .Flops(PerInput(1))
      .Batch(Batch)
      .Axes(ReduceAxes, Rename)
      .KindsAreNames("reduce_")
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
