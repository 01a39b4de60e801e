// Unique: the distinct elements, or slices, of a tensor.
#include <algorithm>
#include <cmath>

#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Unique {
  bool flatten = true;
  int64_t axis = 0;
  bool sorted = true;
  template <class V> void Visit(V& v) {
    v("flatten", flatten, "treat x as a flat vector and ignore axis");
    v("axis", axis, "the axis whose slices are compared; a negative axis counts from the end");
    v("sorted", sorted, "sort y in ascending order; otherwise y is in the order of first occurrence");
  }
};

// Returns -1, 0 or 1 if element i of x is less than, equal to or greater than element j. NaN equals NaN and
// is greater than all numbers, so that the order is total.
int Compare(const Tensor& x, int64_t i, int64_t j) {
  const auto three_way = [](auto a, auto b) { return a < b ? -1 : b < a ? 1 : 0; };
  if (x.dtype() == DType::kString) return three_way(x.data<std::string>()[i], x.data<std::string>()[j]);
  if (IsUnsignedInt(x.dtype()))
    return three_way(static_cast<uint64_t>(LoadLong(x, i)), static_cast<uint64_t>(LoadLong(x, j)));
  if (!IsFloat(x.dtype())) return three_way(LoadLong(x, i), LoadLong(x, j));
  const double a = LoadDouble(x, i), b = LoadDouble(x, j);
  if (std::isnan(a) || std::isnan(b)) return three_way(std::isnan(a), std::isnan(b));
  return three_way(a, b);
}

// x as [outer, count, inner]. Slice i is [:, i, :].
struct AxisSlices {
  const Tensor& x;
  int64_t outer, count, inner;
  int64_t At(int64_t o, int64_t slice) const { return (o * count + slice) * inner; }
  int CompareSlices(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        if (const int order = Compare(x, At(o, a) + i, At(o, b) + i)) return order;
    return 0;
  }
};

// Groups equal slices. Each group lists the numbers of its slices in ascending order. Groups are sorted by
// value, or by first occurrence if `sorted` is false.
std::vector<std::vector<int64_t>> Groups(const AxisSlices& s, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(s.count));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return s.CompareSlices(a, b) < 0; });
  std::vector<std::vector<int64_t>> groups;
  for (int64_t i : order) {
    if (groups.empty() || s.CompareSlices(groups.back()[0], i) != 0) groups.emplace_back();
    groups.back().push_back(i);
  }
  if (!sorted)
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
  return groups;
}

Status Infer(const Unique& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  Shape y = op.flatten ? Shape({Dim()}) : x;
  if (!op.flatten && x.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    y.dims[static_cast<size_t>(axis)] = Dim();
  }
  c.Out("y", c.TypeOf("x"), std::move(y));
  for (const char* port : {"indices", "inverse", "counts"}) c.Out(port, DType::kI64, Shape({Dim()}));
  if (op.flatten && x.ranked) c.Out("inverse", DType::kI64, Shape({ProductOf(x.dims, 0, x.rank())}));
  return {};
}

Status Reference(const Unique& op, EvalContext& c) {
  const Tensor x = op.flatten ? c.In("x").Reshaped({c.In("x").size()}) : c.In("x");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.flatten ? 0 : op.axis, x.rank()));
  const AxisSlices s{x, CountBetween(x.dims(), 0, axis), x.dim(axis),
                     CountBetween(x.dims(), axis + 1, x.rank())};
  const auto groups = Groups(s, op.sorted);
  const auto n = static_cast<int64_t>(groups.size());
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = n;
  Tensor& y = c.Out("y", dims);
  std::vector<int64_t> first, inverse(static_cast<size_t>(s.count)), counts;
  for (int64_t g = 0; g < n; ++g) {
    const auto& members = groups[static_cast<size_t>(g)];
    for (int64_t o = 0; o < s.outer; ++o) CopyRun(x, s.At(o, members[0]), y, (o * n + g) * s.inner, s.inner);
    first.push_back(members[0]);
    counts.push_back(static_cast<int64_t>(members.size()));
    for (int64_t m : members) inverse[static_cast<size_t>(m)] = g;
  }
  c.OutLongs("indices", {n}, first);
  c.OutLongs("inverse", {s.count}, inverse);
  c.OutLongs("counts", {n}, counts);
  return {};
}

}  // namespace

TERN_OP(Unique) {
  return OpDef::Of<Unique>(
             "y: the distinct slices of x along axis; indices: the first occurrence of each in x; inverse: the position in y of each slice of x; counts: how often each occurs")
      .In("x", kNumbers | kBools | kStrings)
      .Out("y", kNumbers | kBools | kStrings)
      .OptOut("indices", SetOf(DType::kI64))
      .OptOut("inverse", SetOf(DType::kI64))
      .OptOut("counts", SetOf(DType::kI64))
      .Flops(No{"a search has no arithmetic"})
      .Batch(No{"items are compared with each other"})
      .Axes(kNoKernel)
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
