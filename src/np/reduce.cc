// Reductions and cumulative functions.
#include "kernels/cpu/reduce/reduce.h"

#include <cmath>

#include "kernels/cpu/sort/sort.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

using cpu::ReduceKind;

Store Reduced(ReduceKind kind, const Store& x, const Axis& axis, bool keepdims) {
  const std::vector<bool> mask = Mask(axis, x.rank());
  const Dims dims = Without(x.dims(), mask, keepdims);
  Store y = x.size() == 0 ? NewZeros(x.dtype(), dims) : New(x.dtype(), dims);
  if (y.size() == 0) return y;
  if (x.size() == 0) {
    // kMean has no neutral element; its callers check that there are elements.
    for (int64_t i = 0; i < y.size() && kind == ReduceKind::kProd; ++i) tern::StoreDouble(y, i, 1);
    return y;
  }
  cpu::Reduce(kind, x.dtype(), cpu::MakeReduce(x.dims(), mask), x.raw(), y.raw(), Pool());
  return y;
}

// The number of elements that make up one result.
int64_t CountAlong(const Store& x, const Axis& axis) {
  const std::vector<bool> mask = Mask(axis, x.rank());
  int64_t count = 1;
  for (size_t i = 0; i < mask.size(); ++i) count *= mask[i] ? x.dims()[i] : 1;
  return count;
}

Store Extreme(ReduceKind kind, const Array& a, const Axis& axis, bool keepdims) {
  const Store& x = In(a);
  if (CountAlong(x, axis) == 0)
    Fail("no elements of ", x.Describe(), " to take the ", cpu::kReduceNames[static_cast<size_t>(kind)],
         " of");
  return Reduced(kind, x, axis, keepdims);
}

Store ArgExtreme(const Array& a, int64_t axis, bool keepdims, bool largest) {
  const Store& given = In(a);
  const bool flat = axis == none;
  const Store x = flat ? Reshaped(given, {-1}) : given;
  const int64_t along = Normal(flat ? 0 : axis, x.rank());
  const Along shape = AlongAxis(x.dims(), along);
  if (shape.length == 0)
    Fail("no elements of ", given.Describe(), " to take the ", largest ? "argmax" : "argmin", " of");
  std::vector<bool> mask(flat ? given.dims().size() : x.dims().size(), flat);
  if (!flat) mask[static_cast<size_t>(along)] = true;
  Store y = New(Type::kI64, Without(given.dims(), mask, keepdims));
  if (y.size() > 0)
    cpu::ArgReduce(x.dtype(), {shape.outer, shape.length, shape.inner}, largest, false, x.raw(),
                   y.data<int64_t>(), Pool());
  return y;
}

Store Cumulated(const Array& a, int64_t axis, bool product) {
  Store x = Converted(In(a), SumOf(In(a).dtype()));
  if (axis == none) x = Reshaped(x, {x.size()});
  const Along shape = AlongAxis(x.dims(), Normal(axis == none ? 0 : axis, x.rank()));
  Store y = New(x.dtype(), x.dims());
  if (y.size() > 0)
    cpu::Cumulate(x.dtype(), {shape.outer, shape.length, shape.inner}, product, false, false, x.raw(),
                  y.raw(), Pool());
  return y;
}

}  // namespace

Array sum(const Array& a, const Axis& axis, bool keepdims) {
  return Make(
      [&] { return Reduced(ReduceKind::kSum, Converted(In(a), SumOf(In(a).dtype())), axis, keepdims); });
}
Array prod(const Array& a, const Axis& axis, bool keepdims) {
  return Make(
      [&] { return Reduced(ReduceKind::kProd, Converted(In(a), SumOf(In(a).dtype())), axis, keepdims); });
}
Array mean(const Array& a, const Axis& axis, bool keepdims) {
  return Make([&] {
    const Store x = Converted(In(a), In(a).dtype() == Type::kF32 ? Type::kF32 : Type::kF64);
    Store y = Reduced(ReduceKind::kMean, x, axis, keepdims);
    for (int64_t i = 0; i < y.size() && x.size() == 0; ++i) tern::StoreDouble(y, i, std::nan(""));
    return y;
  });
}
Array var(const Array& a, const Axis& axis, bool keepdims, int64_t ddof) {
  const Array centred = subtract(a, mean(a, axis, true));
  const Array squares = sum(multiply(centred, centred), axis, keepdims);
  if (!squares.ok()) return squares;
  const Array counted = Make([&] {
    Store one = New(Type::kF64, {});
    *one.data<double>() = static_cast<double>(std::max<int64_t>(CountAlong(In(a), axis) - ddof, 0));
    return one;
  });
  return divide(squares, counted.astype(squares.dtype()));
}
Array std(const Array& a, const Axis& axis, bool keepdims, int64_t ddof) {
  return sqrt(var(a, axis, keepdims, ddof));
}
Array min(const Array& a, const Axis& axis, bool keepdims) {
  return Make([&] { return Extreme(ReduceKind::kMin, a, axis, keepdims); });
}
Array max(const Array& a, const Axis& axis, bool keepdims) {
  return Make([&] { return Extreme(ReduceKind::kMax, a, axis, keepdims); });
}
Array any(const Array& a, const Axis& axis, bool keepdims) {
  return Make([&] { return Reduced(ReduceKind::kMax, Converted(In(a), Type::kBool), axis, keepdims); });
}
Array all(const Array& a, const Axis& axis, bool keepdims) {
  return logical_not(any(logical_not(a), axis, keepdims));
}
Array all(const Array& a) { return all(a, Axis(), false); }
Array count_nonzero(const Array& a, const Axis& axis, bool keepdims) {
  return sum(a.astype(DType::kBool), axis, keepdims);
}
Array argmin(const Array& a, int64_t axis, bool keepdims) {
  return Make([&] { return ArgExtreme(a, axis, keepdims, false); });
}
Array argmax(const Array& a, int64_t axis, bool keepdims) {
  return Make([&] { return ArgExtreme(a, axis, keepdims, true); });
}
Array cumsum(const Array& a, int64_t axis) {
  return Make([&] { return Cumulated(a, axis, false); });
}
Array cumprod(const Array& a, int64_t axis) {
  return Make([&] { return Cumulated(a, axis, true); });
}

Array median(const Array& a, int64_t axis, bool keepdims) {
  return Make([&] {
    const bool flat = axis == none;
    const Store sorted = In(sort(a.astype(a.dtype() == DType::kF32 ? DType::kF32 : DType::kF64), axis));
    const Along shape = AlongAxis(sorted.dims(), Normal(flat ? 0 : axis, sorted.rank()));
    if (shape.length == 0) Fail("no elements of ", In(a).Describe(), " to take the median of");
    const Array x = Access::Of(Reshaped(sorted, {shape.outer, shape.length, shape.inner}));
    const int64_t last = shape.length - 1;
    const Array middle = multiply(add(x(all(), last / 2), x(all(), (last + 1) / 2)), 0.5);
    const Array found = where(isnan(x(all(), last)), x(all(), last), middle);  // NaN is sorted last
    std::vector<bool> mask(In(a).dims().size(), flat);
    if (!flat) mask[static_cast<size_t>(Normal(axis, In(a).rank()))] = true;
    return Reshaped(In(found), Without(In(a).dims(), mask, keepdims));
  });
}

Array diff(const Array& a, int64_t n, int64_t axis) {
  return Make([&] {
    if (n < 0) Fail("diff of order ", n);
    Array x = a;
    const int64_t along = Normal(axis, In(a).rank());
    for (int64_t i = 0; i < n; ++i) {
      std::vector<Index> head(static_cast<size_t>(along), Index(Slice{})), tail = head;
      head.emplace_back(Slice{none, -1, 1});
      tail.emplace_back(Slice{1, none, 1});
      const bool bools = x.dtype() == DType::kBool;
      x = bools ? not_equal(x.Get(tail), x.Get(head)) : subtract(x.Get(tail), x.Get(head));
    }
    return In(x);
  });
}

}  // namespace tern::v1::np
