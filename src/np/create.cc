#include <cmath>

#include "kernels/cpu/move/copy.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

Store Filled(const Dims& dims, Type type, double value) {
  CheckType(type);
  if (value == 0) return NewZeros(type, dims);
  Store x = New(type, dims);
  if (x.size() == 0) return x;
  Store one = New(type, {});
  tern::StoreDouble(one, 0, value);
  cpu::Fill(one.raw(), x.raw(), x.size(), Width(type), Pool());
  return x;
}

// Zeroes the elements of the last two axes where keep(row, column) is false.
template <class F> Store Masked(const Array& a, const F& keep) {
  const Store x = In(a).Clone();
  if (x.rank() < 2) Fail("a matrix needs two axes, got ", x.Describe());
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  VisitWidth(x.dtype(), [&](auto* p) {
    using E = std::remove_pointer_t<decltype(p)>;
    for (int64_t i = 0; i < x.size(); ++i)
      if (!keep(i / columns % rows, i % columns)) x.data<E>()[i] = 0;
  });
  return x;
}

}  // namespace

Array zeros(const Shape& shape, DType dtype) {
  return Make([&] { return Filled(shape, static_cast<Type>(dtype), 0); });
}
Array ones(const Shape& shape, DType dtype) {
  return Make([&] { return Filled(shape, static_cast<Type>(dtype), 1); });
}
Array full(const Shape& shape, const Array& value) {
  return Make([&] { return BroadcastTo(In(value), shape); });
}
Array zeros_like(const Array& a) {
  return Make([&] { return Filled(In(a).dims(), In(a).dtype(), 0); });
}
Array ones_like(const Array& a) {
  return Make([&] { return Filled(In(a).dims(), In(a).dtype(), 1); });
}
Array full_like(const Array& a, const Array& value) {
  return Make([&] { return BroadcastTo(ConvertedFor(value, In(a).dtype()), In(a).dims()); });
}

namespace internal {

Array ArangeF64(double start, double stop, double step) {
  return Make([&] {
    const double count = std::ceil((stop - start) / step);
    if (step == 0 || !(count < 1e15))
      Fail("arange from ", start, " to ", stop, " by ", step, " is not finite");
    Store x = New(Type::kF64, {count > 0 ? static_cast<int64_t>(count) : 0});
    // numpy adds multiples of the rounded difference of the first two elements.
    const double delta = (start + step) - start;
    for (int64_t i = 0; i < x.size(); ++i) x.data<double>()[i] = start + static_cast<double>(i) * delta;
    return x;
  });
}

Array ArangeI64(int64_t start, int64_t stop, int64_t step) {
  return Make([&] {
    if (step == 0) Fail("arange by a step of 0");
    const __int128 span = static_cast<__int128>(stop) - start;
    const __int128 count = (span + (step > 0 ? step - 1 : step + 1)) / step;
    if (count > INT64_MAX) Fail("arange from ", start, " to ", stop, " has too many elements");
    Store x = New(Type::kI64, {count > 0 ? static_cast<int64_t>(count) : 0});
    for (int64_t i = 0; i < x.size(); ++i) x.data<int64_t>()[i] = start + i * step;
    return x;
  });
}

}  // namespace internal

Array linspace(double start, double stop, int64_t count, bool endpoint) {
  return Make([&] {
    if (count < 0) Fail("linspace with ", count, " elements");
    Store x = New(Type::kF64, {count});
    const double parts = static_cast<double>(endpoint ? count - 1 : count);
    const double step = (stop - start) / parts;
    for (int64_t i = 0; i < count; ++i)
      x.data<double>()[i] = start + (parts > 0 ? static_cast<double>(i) * step : 0);
    if (endpoint && count > 1) x.data<double>()[count - 1] = stop;
    return x;
  });
}

Array eye(int64_t rows, int64_t columns, int64_t k, DType dtype) {
  return Make([&] {
    const int64_t width = columns == none ? rows : columns;
    if (std::abs(static_cast<double>(k)) > 1e15) Fail("eye with the diagonal ", k);
    Store x = Filled({rows, width}, static_cast<Type>(dtype), 0);
    for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < width; ++i)
      tern::StoreDouble(x, i * width + i + k, 1);
    return x;
  });
}

Array diag(const Array& a, int64_t k) {
  return Make([&] {
    const Store& x = In(a);
    if (std::abs(static_cast<double>(k)) > 1e15) Fail("the diagonal ", k);
    const int64_t row = std::max<int64_t>(0, -k), column = std::max<int64_t>(0, k);
    if (x.rank() != 1 && x.rank() != 2) Fail("diag needs one or two axes, got ", x.Describe());
    const bool make = x.rank() == 1;
    const int64_t side = make ? x.dim(0) + row + column : 0;
    const int64_t width = make ? side : x.dim(1);
    const int64_t count = make ? x.dim(0) : std::max<int64_t>(0, std::min(x.dim(0) - row, x.dim(1) - column));
    Store y = Filled(make ? Dims{side, side} : Dims{count}, x.dtype(), 0);
    VisitWidth(x.dtype(), [&](auto* p) {
      using E = std::remove_pointer_t<decltype(p)>;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = (row + i) * width + column + i;
        y.data<E>()[make ? at : i] = x.data<E>()[make ? i : at];
      }
    });
    return y;
  });
}

Array tril(const Array& a, int64_t k) {
  return Make([&] { return Masked(a, [k](int64_t i, int64_t j) { return j - i <= k; }); });
}
Array triu(const Array& a, int64_t k) {
  return Make([&] { return Masked(a, [k](int64_t i, int64_t j) { return j - i >= k; }); });
}
Array tri(int64_t rows, int64_t columns, int64_t k, DType dtype) {
  return tril(ones({rows, columns == none ? rows : columns}, dtype), k);
}

std::vector<Array> meshgrid(const std::vector<Array>& axes) {
  const size_t n = axes.size();
  Shape shape;
  for (const Array& a : axes) shape.push_back(a.size());
  if (n > 1) std::swap(shape[0], shape[1]);
  std::vector<Array> out;
  for (size_t i = 0; i < n; ++i) {
    Shape dims(n, 1);
    dims[n > 1 && i < 2 ? 1 - i : i] = axes[i].size();
    out.push_back(broadcast_to(axes[i].reshape(dims), shape));
  }
  return out;
}

}  // namespace tern::v1::np
