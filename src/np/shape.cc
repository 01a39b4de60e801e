// Shapes: broadcasting, reshaping, transposition, joining and splitting.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/cpu/move/copy.h"
#include "np/rep.h"

namespace tern::v1::np {

int64_t Normal(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) Fail("axis ", axis, " does not exist; there are ", rank, " axes");
  return axis < 0 ? axis + rank : axis;
}

std::vector<bool> Mask(const Axis& axis, int64_t rank) {
  std::vector<bool> mask(static_cast<size_t>(rank), axis.list.empty());
  for (const int64_t a : axis.list) {
    const auto at = static_cast<size_t>(Normal(a, rank));
    if (mask[at]) Fail("axis ", a, " is given twice");
    mask[at] = true;
  }
  return mask;
}

Dims Without(const Dims& dims, const std::vector<bool>& mask, bool keepdims) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!mask[i] || keepdims) out.push_back(mask[i] ? 1 : dims[i]);
  return out;
}

Dims BroadcastOf(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      Fail("shapes do not broadcast: ", tern::Describe(Type::kF32, a).substr(3), " and ",
           tern::Describe(Type::kF32, b).substr(3));
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Store BroadcastTo(const Store& x, const Dims& dims) {
  if (x.dims() == dims) return x;
  Store y = New(x.dtype(), dims);
  if (dims.size() < x.dims().size() || BroadcastOf(x.dims(), dims) != dims)
    Fail(x.Describe(), " does not broadcast to ", y.Describe());
  if (y.size() == 0) return y;
  if (x.size() == 1) {
    cpu::Fill(x.raw(), y.raw(), y.size(), Width(x.dtype()), Pool());
    return y;
  }
  const Dims from = tern::ContiguousStrides(x.dims()), to = tern::ContiguousStrides(dims);
  const size_t lead = dims.size() - x.dims().size();
  cpu::StridedCopy plan;
  for (size_t i = 0; i < dims.size(); ++i)
    plan.Add({dims[i], i < lead || x.dims()[i - lead] == 1 ? 0 : from[i - lead], to[i]});
  cpu::Copy(plan, x.raw(), y.raw(), Width(x.dtype()), Pool());
  return y;
}

Store Reshaped(const Store& x, const Dims& wanted) {
  Dims dims = wanted;
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1 && open < 0)
      open = static_cast<int64_t>(i);
    else if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known))
      Fail("the shape ", tern::Describe(x.dtype(), wanted), " is not possible");
  }
  const bool fits = open < 0 ? known == x.size() : known > 0 && x.size() % known == 0;
  if (!fits || dims.size() > 16)
    Fail(x.Describe(), " cannot be reshaped to ", tern::Describe(x.dtype(), wanted));
  if (open >= 0) dims[static_cast<size_t>(open)] = x.size() / known;
  return x.Reshaped(dims);
}

Store Permuted(const Store& x, const Dims& axes) {
  const Dims from = tern::ContiguousStrides(x.dims());
  Dims dims;
  for (const int64_t axis : axes) dims.push_back(x.dims()[static_cast<size_t>(axis)]);
  Store y = New(x.dtype(), dims);
  if (y.size() == 0) return y;
  const Dims to = tern::ContiguousStrides(dims);
  cpu::StridedCopy plan;
  for (size_t i = 0; i < dims.size(); ++i) plan.Add({dims[i], from[static_cast<size_t>(axes[i])], to[i]});
  cpu::Copy(plan, x.raw(), y.raw(), Width(x.dtype()), Pool());
  return y;
}

Along AlongAxis(const Dims& dims, int64_t axis) {
  Along out;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    int64_t& part = i < axis ? out.outer : i == axis ? out.length : out.inner;
    part *= dims[static_cast<size_t>(i)];
  }
  return out;
}

Array reshape(const Array& a, const Shape& shape) {
  return Make([&] { return Reshaped(In(a), shape); });
}
Array ravel(const Array& a) { return reshape(a, {-1}); }

Array transpose(const Array& a, const Shape& axes) {
  return Make([&] {
    const Store& x = In(a);
    Dims order(x.dims().size());
    std::iota(order.rbegin(), order.rend(), 0);
    if (!axes.empty() || x.rank() == 0) {
      if (axes.size() != x.dims().size()) Fail(axes.size(), " axes for ", x.Describe());
      std::vector<bool> seen(axes.size());
      for (size_t i = 0; i < axes.size(); ++i) {
        order[i] = Normal(axes[i], x.rank());
        if (seen[static_cast<size_t>(order[i])]) Fail("axis ", axes[i], " is given twice");
        seen[static_cast<size_t>(order[i])] = true;
      }
    }
    return Permuted(x, order);
  });
}

Array swapaxes(const Array& a, int64_t first, int64_t second) {
  return Make([&] {
    const Store& x = In(a);
    Dims order(x.dims().size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[static_cast<size_t>(Normal(first, x.rank()))],
              order[static_cast<size_t>(Normal(second, x.rank()))]);
    return Permuted(x, order);
  });
}

Array moveaxis(const Array& a, int64_t from, int64_t to) {
  return Make([&] {
    const Store& x = In(a);
    const int64_t source = Normal(from, x.rank()), target = Normal(to, x.rank());
    Dims order;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != source) order.push_back(i);
    order.insert(order.begin() + target, source);
    return Permuted(x, order);
  });
}

Array expand_dims(const Array& a, const Axis& axis) {
  return Make([&] {
    const Store& x = In(a);
    const int64_t rank = x.rank() + static_cast<int64_t>(axis.list.size());
    std::vector<bool> added(static_cast<size_t>(rank));
    if (!axis.list.empty()) added = Mask(axis, rank);
    Dims dims;
    auto from = x.dims().begin();
    for (const bool one : added) dims.push_back(one ? 1 : *from++);
    return Reshaped(x, dims);
  });
}

Array squeeze(const Array& a, const Axis& axis) {
  return Make([&] {
    const Store& x = In(a);
    std::vector<bool> mask = Mask(axis, x.rank());
    for (size_t i = 0; i < mask.size(); ++i) {
      const bool one = x.dims()[i] == 1;
      if (mask[i] && !one && !axis.list.empty())
        Fail("axis ", i, " of ", x.Describe(), " does not have one element");
      mask[i] = mask[i] && one;
    }
    return x.Reshaped(Without(x.dims(), mask, false));
  });
}

Array broadcast_to(const Array& a, const Shape& shape) {
  return Make([&] { return BroadcastTo(In(a), shape); });
}

namespace {

Store Concatenated(const std::vector<Store>& parts, int64_t axis) {
  const auto along = static_cast<size_t>(Normal(axis, parts[0].rank()));
  Dims dims = parts[0].dims();
  dims[along] = 0;
  for (const Store& x : parts) {
    Dims other = x.dims();
    if (other.size() == dims.size()) std::swap(other[along], dims[along]);
    if (other.size() != dims.size() || !std::equal(dims.begin(), dims.end(), x.dims().begin()))
      Fail("cannot join ", parts[0].Describe(), " and ", x.Describe(), " along axis ", axis);
    dims[along] += other[along];
  }
  Store y = New(parts[0].dtype(), dims);
  const Along shape = AlongAxis(dims, static_cast<int64_t>(along));
  const size_t width = static_cast<size_t>(Width(y.dtype()));
  const size_t row = static_cast<size_t>(shape.length * shape.inner) * width;
  size_t at = 0;
  for (const Store& x : parts) {
    const size_t bytes = static_cast<size_t>(x.dims()[along] * shape.inner) * width;
    for (size_t i = 0; i < static_cast<size_t>(shape.outer) && bytes > 0; ++i)
      std::memcpy(static_cast<char*>(y.raw()) + i * row + at, static_cast<const char*>(x.raw()) + i * bytes,
                  bytes);
    at += bytes;
  }
  return y;
}

// Converts all arrays to their common type.
std::vector<Store> Common(const std::vector<Array>& arrays) {
  if (arrays.empty()) Fail("no arrays to join");
  Type type = In(arrays[0]).dtype();
  for (const Array& a : arrays) type = Promoted(type, In(a).dtype());
  std::vector<Store> out;
  for (const Array& a : arrays) out.push_back(Converted(In(a), type));
  return out;
}

}  // namespace

Array concatenate(const std::vector<Array>& arrays, int64_t axis) {
  return Make([&] { return Concatenated(Common(arrays), axis); });
}

Array stack(const std::vector<Array>& arrays, int64_t axis) {
  return Make([&] {
    std::vector<Store> parts = Common(arrays);
    const int64_t along = Normal(axis, parts[0].rank() + 1);
    for (Store& x : parts) {
      if (x.dims() != In(arrays[0]).dims()) Fail("cannot stack ", parts[0].Describe(), " and ", x.Describe());
      Dims dims = In(arrays[0]).dims();
      dims.insert(dims.begin() + along, 1);
      x = x.Reshaped(dims);
    }
    return Concatenated(parts, along);
  });
}

Array vstack(const std::vector<Array>& arrays) {
  std::vector<Array> rows;
  for (const Array& a : arrays) rows.push_back(a.ndim() < 2 ? a.reshape({1, a.ok() ? a.size() : 0}) : a);
  return concatenate(rows, 0);
}
Array hstack(const std::vector<Array>& arrays) {
  std::vector<Array> parts;
  for (const Array& a : arrays) parts.push_back(a.ndim() == 0 ? a.reshape({1}) : a);
  return concatenate(parts, !parts.empty() && parts[0].ndim() > 1 ? 1 : 0);
}

std::vector<Array> split(const Array& a, const Shape& positions, int64_t axis) {
  std::vector<Array> out;
  for (size_t i = 0; i <= positions.size(); ++i)
    out.push_back(Make([&] {
      std::vector<Index> index(static_cast<size_t>(Normal(axis, In(a).rank())), Index(Slice{}));
      index.emplace_back(
          Slice{i == 0 ? none : positions[i - 1], i == positions.size() ? none : positions[i], 1});
      return In(a.Get(index));
    }));
  return out;
}

std::vector<Array> split(const Array& a, int64_t sections, int64_t axis) {
  Shape positions;
  const Array checked = Make([&] {
    const int64_t length = In(a).dims()[static_cast<size_t>(Normal(axis, In(a).rank()))];
    if (sections < 1 || length % sections != 0)
      Fail("axis ", axis, " of ", In(a).Describe(), " does not split into ", sections, " equal parts");
    for (int64_t i = 1; i < sections; ++i) positions.push_back(i * (length / sections));
    return In(a);
  });
  return checked.ok() ? split(checked, positions, axis) : std::vector<Array>{checked};
}

}  // namespace tern::v1::np
