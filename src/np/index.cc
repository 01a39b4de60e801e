// Indexing by integers, slices, masks and arrays of integers.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/move/copy.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

// A slice of an axis with `length` elements, by Python's rules.
struct Range {
  int64_t start, step, count;
};

Range RangeOf(const Slice& s, int64_t length) {
  if (s.step == 0) Fail("a slice with a step of 0");
  const bool up = s.step > 0;
  const auto clamp = [&](int64_t bound, int64_t otherwise) {
    if (bound == none) return otherwise;
    if (bound < 0) bound += length;
    return std::clamp<int64_t>(bound, up ? 0 : -1, up ? length : length - 1);
  };
  const int64_t start = clamp(s.start, up ? 0 : length - 1), stop = clamp(s.stop, up ? length : -1);
  const int64_t span = up ? stop - start : start - stop;
  // The magnitude of the smallest step is not an int64_t.
  const uint64_t step = up ? static_cast<uint64_t>(s.step) : -static_cast<uint64_t>(s.step);
  const int64_t count = span > 0 ? static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / step) + 1 : 0;
  return {start, s.step, count};
}

int64_t Position(int64_t i, int64_t length) {
  if (i < -length || i >= length) Fail("index ", i, " is outside an axis of ", length, " elements");
  return i < 0 ? i + length : i;
}

// Replaces an ellipsis by slices of whole axes, and appends slices for the axes that the index does not name.
std::vector<Index> Completed(const std::vector<Index>& indices, const Store& x) {
  int64_t named = 0, dots = 0;
  for (const Index& i : indices) {
    named += i.kind == Index::Kind::kInteger || i.kind == Index::Kind::kSlice;
    dots += i.kind == Index::Kind::kEllipsis;
  }
  if (named > x.rank() || dots > 1) Fail(named, " indices and ", dots, " ellipses for ", x.Describe());
  const auto rest = static_cast<size_t>(x.rank() - named);
  std::vector<Index> out;
  for (const Index& i : indices) {
    if (i.kind == Index::Kind::kEllipsis)
      out.insert(out.end(), rest, Index(Slice{}));
    else
      out.push_back(i);
  }
  if (dots == 0) out.insert(out.end(), rest, Index(Slice{}));
  return out;
}

Store Got(const Store& x, const std::vector<Index>& indices) {
  const Dims strides = tern::ContiguousStrides(x.dims());
  std::vector<cpu::StridedCopy::Axis> axes;
  Dims dims;
  size_t axis = 0;
  int64_t from = 0;
  for (const Index& i : Completed(indices, x)) {
    if (i.kind == Index::Kind::kNewAxis) {
      dims.push_back(1);
      continue;
    }
    const int64_t length = x.dims()[axis], stride = strides[axis++];
    if (i.kind == Index::Kind::kInteger) {
      from += Position(i.range.start, length) * stride;
      continue;
    }
    const Range r = RangeOf(i.range, length);
    dims.push_back(r.count);
    if (r.count > 0) from += r.start * stride;
    axes.push_back({r.count, r.count > 1 ? r.step * stride : 0, 0});
  }
  if (tern::CountOf(dims) == x.size()) {
    const bool same = std::all_of(axes.begin(), axes.end(), [](const auto& a) { return a.from >= 0; });
    if (same) return x.Reshaped(dims);
  }
  Store y = New(x.dtype(), dims);
  if (y.size() == 0) return y;
  cpu::StridedCopy plan;
  plan.from = from;
  int64_t to = y.size();
  for (auto& a : axes) {
    to /= a.size;
    a.to = to;
    plan.Add(a);
  }
  cpu::Copy(plan, x.raw(), y.raw(), Width(x.dtype()), Pool());
  return y;
}

// Copies `count` rows of `bytes` bytes each; row i is row source(i).
template <class F>
void CopyRows(const Store& x, Store& y, int64_t at, int64_t count, size_t bytes, const F& source) {
  char* to = static_cast<char*>(y.raw()) + static_cast<size_t>(at) * bytes;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + static_cast<size_t>(i) * bytes,
                static_cast<const char*>(x.raw()) + static_cast<size_t>(source(i)) * bytes, bytes);
}

Store IndicesOf(const Array& indices) {
  const Store& i = In(indices);
  const bool empty = i.size() == 0 && i.dtype() == Type::kF64;  // an empty list has no type
  if ((IsFloating(i.dtype()) && !empty) || i.dtype() == Type::kBool)
    Fail("indices must be integers, got ", i.Describe());
  return Converted(i, Type::kI64);
}

Store Taken(const Store& x, const Store& indices, int64_t axis) {
  const Along shape = AlongAxis(x.dims(), axis);
  Dims dims(x.dims().begin(), x.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  Store y = New(x.dtype(), dims);
  const int64_t n = indices.size();
  const int64_t* at = indices.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) Position(at[i], shape.length);
  if (y.size() == 0) return y;
  const size_t bytes = static_cast<size_t>(shape.inner * Width(x.dtype()));
  Pool().ParallelFor(
      shape.outer, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o)
          CopyRows(x, y, o * n, n, bytes,
                   [&](int64_t i) { return o * shape.length + Position(at[i], shape.length); });
      });
  return y;
}

// The positions of true elements.
std::vector<int64_t> TrueOf(const Store& mask) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < mask.size(); ++i)
    if (mask.data<bool>()[i]) out.push_back(i);
  return out;
}

Store Selected(const Store& x, const Store& mask) {
  const auto lead = mask.dims().size();
  if (lead > x.dims().size() || !std::equal(mask.dims().begin(), mask.dims().end(), x.dims().begin()))
    Fail("the mask ", mask.Describe(), " does not fit ", x.Describe());
  const std::vector<int64_t> rows = TrueOf(mask);
  Dims dims = {static_cast<int64_t>(rows.size())};
  int64_t inner = 1;
  for (size_t i = lead; i < x.dims().size(); ++i) {
    dims.push_back(x.dims()[i]);
    inner *= x.dims()[i];
  }
  Store y = New(x.dtype(), dims);
  if (y.size() > 0)
    CopyRows(x, y, 0, dims[0], static_cast<size_t>(inner * Width(x.dtype())),
             [&](int64_t i) { return rows[static_cast<size_t>(i)]; });
  return y;
}

}  // namespace

Array Array::Get(const std::vector<Index>& indices) const {
  return Make([&] { return Got(In(*this), indices); });
}

Array Array::operator[](const Array& index) const {
  return Make([&] {
    const Store& x = In(*this);
    if (In(index).dtype() == Type::kBool) return Selected(x, In(index));
    if (x.rank() == 0) Fail("a number has no axis to index");
    return Taken(x, IndicesOf(index), 0);
  });
}

Array take(const Array& a, const Array& indices, int64_t axis) {
  return Make([&] {
    const Store x = axis == none ? Reshaped(In(a), {-1}) : In(a);
    return Taken(x, IndicesOf(indices), Normal(axis == none ? 0 : axis, x.rank()));
  });
}

Array take_along_axis(const Array& a, const Array& indices, int64_t axis) {
  return Make([&] {
    const Store& x = In(a);
    const Store at = IndicesOf(indices);
    const int64_t along = Normal(axis, x.rank());
    Dims wanted = x.dims();
    if (at.rank() != x.rank()) Fail("indices ", at.Describe(), " for ", x.Describe(), " along axis ", axis);
    wanted[static_cast<size_t>(along)] = at.dim(static_cast<int>(along));
    const Store i = BroadcastTo(at, BroadcastOf(at.dims(), wanted));
    Dims full = i.dims();
    full[static_cast<size_t>(along)] = x.dim(static_cast<int>(along));
    const Store values = BroadcastTo(x, full);
    const Along shape = AlongAxis(full, along);
    const int64_t n = i.dim(static_cast<int>(along));
    Store y = New(x.dtype(), i.dims());
    VisitWidth(x.dtype(), [&](auto* p) {
      using E = std::remove_pointer_t<decltype(p)>;
      for (int64_t e = 0; e < y.size(); ++e) {
        const int64_t inner = e % shape.inner, outer = e / shape.inner / n;
        const int64_t position = Position(i.data<int64_t>()[e], shape.length);
        y.data<E>()[e] = values.data<E>()[(outer * shape.length + position) * shape.inner + inner];
      }
    });
    return y;
  });
}

Array flatnonzero(const Array& a) {
  return Make([&] {
    const std::vector<int64_t> found = TrueOf(Converted(In(a), Type::kBool));
    Store y = New(Type::kI64, {static_cast<int64_t>(found.size())});
    std::copy(found.begin(), found.end(), y.data<int64_t>());
    return y;
  });
}

std::vector<Array> nonzero(const Array& a) {
  const Array found = flatnonzero(a);
  if (a.ok() && a.ndim() == 0)
    return {Make([&]() -> Store { Fail("nonzero of a number; use reshape({1})"); })};
  if (!found.ok()) return {found};
  std::vector<Array> out;
  int64_t inner = 1;
  for (const int64_t dim : a.shape()) inner *= dim;
  for (const int64_t dim : a.shape()) {
    inner = dim ? inner / dim : 0;
    out.push_back(found.size() ? mod(floor_divide(found, inner), dim) : found);
  }
  return out;
}

Array argwhere(const Array& a) {
  if (a.ok() && a.ndim() == 0) return zeros({a.astype(DType::kBool).item<bool>() ? 1 : 0, 0}, DType::kI64);
  return stack(nonzero(a), -1);
}

}  // namespace tern::v1::np
