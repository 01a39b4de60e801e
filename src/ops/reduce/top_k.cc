// TopK: the k largest or smallest elements along an axis, and their indices.
#include <algorithm>
#include <numeric>

#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/reduce/axes.h"

namespace tern {
namespace {

struct TopK {
  int64_t axis = -1;
  bool largest = true, sorted = true;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis to search; a negative axis counts from the end");
    v("largest", largest, "find the largest elements; otherwise the smallest");
    v("sorted", sorted, "return the best element first; otherwise the order is unspecified");
  }
};

Status Infer(const TopK& op, InferContext& c) {
  Shape y = c.ShapeOf("x");
  if (y.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, y.rank()));
    Dim k;
    if (const auto content = c.ContentOf("k")) {
      if (content->size() != 1)
        return InvalidModel("input 'k' must hold one number, got ", c.In("k").ToString());
      k = (*content)[0];
    }
    Dim& length = y.dims[static_cast<size_t>(axis)];
    if (k.known() && (k.value() < 0 || (length.known() && k.value() > length.value())))
      return InvalidModel("k is ", k.value(), ", but the axis has ", length.ToString(), " elements");
    length = k;
  }
  c.Out("values", c.TypeOf("x"), y);
  c.Out("indices", DType::kI64, y);
  return {};
}

// Returns whether a is better than b. NaN is larger than all numbers.
template <class T> bool Better(bool largest, T a, T b) {
  if (a != a || b != b) return largest ? a != a && b == b : a == a && b != b;
  return largest ? a > b : a < b;
}

template <class T, class Load>
void Select(const TopK& op, const AxisView& view, int64_t k, const Tensor& x, Tensor& values, Tensor& indices,
            Load load) {
  std::vector<T> line(static_cast<size_t>(view.length));
  std::vector<int64_t> order(line.size());
  int64_t row = 0;
  view.EachLine([&](int64_t first) {
    for (size_t i = 0; i < line.size(); ++i)
      line[i] = static_cast<T>(load(x, first + static_cast<int64_t>(i) * view.inner));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      const T va = line[static_cast<size_t>(a)], vb = line[static_cast<size_t>(b)];
      return Better(op.largest, va, vb) || (!Better(op.largest, vb, va) && a < b);
    });
    const int64_t to = row / view.inner * k * view.inner + row % view.inner;
    ++row;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t from = order[static_cast<size_t>(i)], at = to + i * view.inner;
      indices.data<int64_t>()[at] = from;
      if (IsFloat(x.dtype()))
        StoreDouble(values, at, LoadDouble(x, first + from * view.inner));
      else
        StoreLong(values, at, LoadLong(x, first + from * view.inner));
    }
  });
}

Status Reference(const TopK& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  const auto ks = c.Longs("k");
  const int64_t length = x.dim(axis);
  if (ks.size() != 1 || ks[0] < 0 || ks[0] > length)
    return InvalidArgument("k must be one number from 0 to ", length, ", got ",
                           ks.size() == 1 ? StrCat(ks[0]) : c.In("k").Describe());
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = ks[0];
  Tensor values(x.dtype(), dims), indices(DType::kI64, dims);
  const AxisView view(x.dims(), axis);
  if (IsFloat(x.dtype()))
    Select<double>(op, view, ks[0], x, values, indices, LoadDouble);
  else if (x.dtype() == DType::kU64)
    Select<uint64_t>(op, view, ks[0], x, values, indices, LoadLong);
  else
    Select<int64_t>(op, view, ks[0], x, values, indices, LoadLong);
  c.SetOut("values", std::move(values));
  c.SetOut("indices", std::move(indices));
  return {};
}

}  // namespace

TERN_OP(TopK) {
  return OpDef::Of<TopK>("the k best elements of x along axis, and their indices")
      .In("x", kNumbers)
      .Setting("k", kIndices)
      .Out("values", kNumbers)
      .Out("indices", SetOf(DType::kI64))
      .Flops(PerInput(1))
      .Batch(No{"the axis may be the outermost one"})
      .Axes(No{"the op has two results"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
