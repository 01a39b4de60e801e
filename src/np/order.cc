// Sorting and searching.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cpu_info.h"
#include "np/radix.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

// Compares as numpy sorts: NaN is larger than every number.
template <class E> bool Before(E a, E b) {
  if constexpr (std::is_floating_point_v<E>) return a < b || (std::isnan(b) && !std::isnan(a));
  return a < b;
}

constexpr int64_t kRadixLength = 1024;  // a radix sort of vectors from this length on is faster

// Calls f(row) for each vector along the last axis of a contiguous tensor. The radix sort of long vectors
// allocates memory, which may throw; the pool's threads may not.
template <class F> void EachVector(int64_t count, int64_t length, const F& f) {
  if (length >= kRadixLength) {
    for (int64_t i = 0; i < count; ++i) f(i);
    return;
  }
  const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, length));
  Pool().ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

// std::sort cannot order NaN, so that NaN is moved to the end first.
template <class E> void SortVector(E* begin, E* end) {
  if constexpr (sizeof(E) >= 4)
    if (end - begin >= kRadixLength) {
      std::vector<E> items(begin, end), scratch(items.size());
      RadixSort(items, scratch, RadixKey<E>);
      std::copy(items.begin(), items.end(), begin);
      return;
    }
  if constexpr (std::is_floating_point_v<E>)
    end = std::partition(begin, end, [](E v) { return !std::isnan(v); });
  std::sort(begin, end);
}

Store SortedLast(const Store& x) {
  const Store y = x.Clone();
  const int64_t length = y.dim(-1);
  Visit(y.dtype(), [&](auto* p) {
    using E = std::remove_pointer_t<decltype(p)>;
    EachVector(length ? y.size() / length : 0, length,
               [&](int64_t i) { SortVector(y.data<E>() + i * length, y.data<E>() + (i + 1) * length); });
  });
  return y;
}

template <class E> struct Keyed {
  KeyOf<E> key;
  int64_t at;
};

template <class E> void ArgSortVector(const E* row, int64_t* order, int64_t length) {
  if constexpr (sizeof(E) >= 4)
    if (length >= kRadixLength) {
      std::vector<Keyed<E>> items(static_cast<size_t>(length)), scratch(items.size());
      for (int64_t i = 0; i < length; ++i) items[static_cast<size_t>(i)] = {RadixKey(row[i]), i};
      RadixSort(items, scratch, [](const Keyed<E>& item) { return item.key; });
      for (int64_t i = 0; i < length; ++i) order[i] = items[static_cast<size_t>(i)].at;
      return;
    }
  std::iota(order, order + length, 0);
  std::stable_sort(order, order + length, [row](int64_t a, int64_t b) { return Before(row[a], row[b]); });
}

Store ArgSortedLast(const Store& x) {
  Store y = New(Type::kI64, x.dims());
  const int64_t length = x.dim(-1);
  Visit(x.dtype(), [&](auto* p) {
    using E = std::remove_pointer_t<decltype(p)>;
    EachVector(length ? x.size() / length : 0, length, [&](int64_t i) {
      ArgSortVector(x.data<E>() + i * length, y.data<int64_t>() + i * length, length);
    });
  });
  return y;
}

// Applies `f` along `axis`. `f` itself works along the last axis.
template <class F> Store AlongLast(const Array& a, int64_t axis, const F& f) {
  if (axis == none) return f(Reshaped(In(a), {-1}));
  const int64_t along = Normal(axis, In(a).rank());
  if (along == In(a).rank() - 1) return f(In(a));
  return In(moveaxis(Access::Of(f(In(moveaxis(a, along, -1)))), -1, along));
}

Store Integers(const std::vector<int64_t>& values) {
  Store y = New(Type::kI64, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), y.data<int64_t>());
  return y;
}

template <class E> bool Same(E a, E b) { return !Before(a, b) && !Before(b, a); }

}  // namespace

Array sort(const Array& a, int64_t axis) {
  return Make([&] { return AlongLast(a, axis, SortedLast); });
}
Array argsort(const Array& a, int64_t axis) {
  return Make([&] { return AlongLast(a, axis, ArgSortedLast); });
}

Unique unique_all(const Array& a) {
  Unique out;
  out.values = Make([&] {
    const Store flat = Reshaped(In(a), {-1}), order = ArgSortedLast(flat);
    const int64_t* at = order.data<int64_t>();
    std::vector<int64_t> first, counts, inverse(static_cast<size_t>(flat.size()));
    Visit(flat.dtype(), [&](auto* p) {
      using E = std::remove_pointer_t<decltype(p)>;
      const E* x = flat.data<E>();
      for (int64_t i = 0; i < flat.size(); ++i) {
        const bool starts = i == 0 || !Same(x[at[i]], x[at[i - 1]]);
        if (starts) first.push_back(at[i]);
        if (starts) counts.push_back(0);
        ++counts.back();
        inverse[static_cast<size_t>(at[i])] = static_cast<int64_t>(first.size()) - 1;
      }
    });
    out.index = Access::Of(Integers(first));
    out.counts = Access::Of(Integers(counts));
    out.inverse = Access::Of(Reshaped(Integers(inverse), In(a).dims()));
    return In(take(Access::Of(flat), out.index));
  });
  if (!out.values.ok()) out.index = out.counts = out.inverse = out.values;
  return out;
}
Array unique(const Array& a) { return unique_all(a).values; }

Array searchsorted(const Array& sorted, const Array& values, bool right) {
  return Make([&] {
    const Type type = PromotedOf(sorted, values);
    const Store x = ConvertedFor(sorted, type), v = ConvertedFor(values, type);
    if (x.rank() != 1) Fail("searchsorted needs one axis, got ", x.Describe());
    Store y = New(Type::kI64, v.dims());
    Visit(type, [&](auto* p) {
      using E = std::remove_pointer_t<decltype(p)>;
      const E *begin = x.data<E>(), *end = begin + x.size();
      for (int64_t i = 0; i < v.size(); ++i) {
        const E* found = right ? std::upper_bound(begin, end, v.data<E>()[i], Before<E>)
                               : std::lower_bound(begin, end, v.data<E>()[i], Before<E>);
        y.data<int64_t>()[i] = found - begin;
      }
    });
    return y;
  });
}

Array bincount(const Array& a, int64_t minlength) {
  return Make([&] {
    if (IsFloating(In(a).dtype()) || In(a).rank() != 1)
      Fail("bincount needs integers along one axis, got ", In(a).Describe());
    const Store x = Converted(In(a), Type::kI64);
    const auto most = static_cast<int64_t>(MachineMemory() / sizeof(int64_t));
    if (minlength > most)
      Fail("bincount of at least ", minlength, " counts; the machine's memory holds ", most);
    int64_t length = std::max<int64_t>(minlength, 0);
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t value = x.data<int64_t>()[i];
      if (value < 0) Fail("bincount of ", value);
      if (value >= most)
        Fail("bincount of ", value, " needs a count of every smaller value; the machine's memory holds ",
             most);
      length = std::max(length, value + 1);
    }
    Store y = NewZeros(Type::kI64, {length});
    for (int64_t i = 0; i < x.size(); ++i) ++y.data<int64_t>()[x.data<int64_t>()[i]];
    return y;
  });
}

}  // namespace tern::v1::np
