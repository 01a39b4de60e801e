// Functions that reorder or repeat elements: each axis of the result reads positions of an axis of the input.
#include <algorithm>
#include <cstring>

#include "np/rep.h"

namespace tern::v1::np {
namespace {

// Returns the position of the input that element `i` of a padded axis repeats. `i` is 0 at the first element
// of the input, and negative in the padding before it.
int64_t PaddedSource(int64_t i, int64_t length, const std::string& mode) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, length - 1);
  if (mode == "wrap") return ((i % length) + length) % length;
  const int64_t period = mode == "reflect" ? std::max<int64_t>(2 * (length - 1), 1) : 2 * length;
  const int64_t at = ((i % period) + period) % period;
  return at < length ? at : (mode == "reflect" ? period - at : period - 1 - at);
}

// Copies positions of an axis one by one, because a list of them could be larger than the result.
Store PaddedAxis(const Store& x, int64_t axis, std::pair<int64_t, int64_t> width, const std::string& mode) {
  const Along shape = AlongAxis(x.dims(), axis);
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] += width.first + width.second;
  Store y = New(x.dtype(), dims);
  if (y.size() == 0) return y;
  const size_t bytes = static_cast<size_t>(shape.inner * Width(x.dtype()));
  const auto* from = static_cast<const char*>(x.raw());
  auto* to = static_cast<char*>(y.raw());
  const auto copy = [&](int64_t position, int64_t count) {
    const size_t size = static_cast<size_t>(count) * bytes;
    std::memcpy(to, from + static_cast<size_t>(position) * bytes, size);
    to += size;
  };
  for (int64_t o = 0; o < shape.outer; ++o, from += static_cast<size_t>(shape.length) * bytes) {
    for (int64_t i = -width.first; i < 0; ++i) copy(PaddedSource(i, shape.length, mode), 1);
    copy(0, shape.length);
    for (int64_t i = 0; i < width.second; ++i) copy(PaddedSource(shape.length + i, shape.length, mode), 1);
  }
  return y;
}

Array PaddedConstant(const Array& a, int64_t axis, std::pair<int64_t, int64_t> width, const Array& value) {
  Shape before = a.shape(), after = a.shape();
  before[static_cast<size_t>(axis)] = width.first;
  after[static_cast<size_t>(axis)] = width.second;
  return concatenate({full(before, value), a, full(after, value)}, axis);
}

}  // namespace

Array flip(const Array& a, const Axis& axis) {
  return Make([&] {
    std::vector<Index> index;
    for (const bool reversed : Mask(axis, In(a).rank()))
      index.emplace_back(Slice{none, none, reversed ? -1 : 1});
    return In(a.Get(index));
  });
}

Array roll(const Array& a, int64_t shift, int64_t axis) {
  return Make([&] {
    const Store& x = In(a);
    if (axis == none) return Reshaped(In(roll(ravel(a), shift, 0)), x.dims());
    const int64_t length = x.dims()[static_cast<size_t>(Normal(axis, x.rank()))];
    if (length == 0) return x;
    const int64_t cut = (length - shift % length) % length;
    const std::vector<Array> parts = split(a, Shape{cut}, axis);
    return In(concatenate({parts[1], parts[0]}, axis));
  });
}

Array repeat(const Array& a, int64_t repeats, int64_t axis) {
  return Make([&] {
    if (repeats < 0) Fail("repeat ", repeats, " times");
    const Array x = axis == none ? ravel(a) : a;
    const int64_t along = Normal(axis == none ? 0 : axis, In(x).rank());
    Shape dims = x.shape(), wide = x.shape();
    wide.insert(wide.begin() + along + 1, repeats);
    dims.insert(dims.begin() + along + 1, 1);
    const Store repeated = BroadcastTo(Reshaped(In(x), dims), wide);
    wide.erase(wide.begin() + along + 1);
    wide[static_cast<size_t>(along)] *= repeats;
    return Reshaped(repeated, wide);
  });
}

Array tile(const Array& a, const Shape& repetitions) {
  return Make([&] {
    const size_t rank = std::max(repetitions.size(), In(a).dims().size());
    Dims dims = In(a).dims(), times = repetitions;
    dims.insert(dims.begin(), rank - dims.size(), 1);
    times.insert(times.begin(), rank - times.size(), 1);
    Dims from, to, result;
    for (size_t i = 0; i < rank; ++i) {
      if (times[i] < 0) Fail("tile ", times[i], " times");
      from.insert(from.end(), {1, dims[i]});
      to.insert(to.end(), {times[i], dims[i]});
      int64_t length = 0;
      if (__builtin_mul_overflow(times[i], dims[i], &length))
        Fail("tile ", times[i], " times gives too many elements");
      result.push_back(length);
    }
    return Reshaped(BroadcastTo(Reshaped(In(a), from), to), result);
  });
}

Array pad(const Array& a, const std::vector<std::pair<int64_t, int64_t>>& widths, const std::string& mode,
          const Array& value) {
  return Make([&] {
    const Store& x = In(a);
    const bool constant = mode == "constant";
    if (!constant && mode != "edge" && mode != "reflect" && mode != "symmetric" && mode != "wrap")
      Fail("unknown mode '", mode, "' of pad; constant, edge, reflect, symmetric and wrap exist");
    if (widths.size() != 1 && static_cast<int64_t>(widths.size()) != x.rank())
      Fail(widths.size(), " pairs of widths for ", x.Describe());
    const Array fill = constant ? Make([&] { return Converted(In(value), x.dtype()); }) : a;
    Array y = a;
    for (int64_t axis = 0; axis < x.rank(); ++axis) {
      const auto width = widths[widths.size() == 1 ? 0 : static_cast<size_t>(axis)];
      constexpr int64_t kMost = int64_t{1} << 46;
      if (width.first < 0 || width.second < 0 || width.first > kMost || width.second > kMost)
        Fail("pad by ", width.first, " and ", width.second, " elements");
      if (width.first + width.second == 0) continue;
      if (!constant && x.dims()[static_cast<size_t>(axis)] == 0)
        Fail("mode '", mode, "' needs elements along axis ", axis);
      y = constant ? PaddedConstant(y, axis, width, fill) : Access::Of(PaddedAxis(In(y), axis, width, mode));
      In(y);
    }
    return In(y);
  });
}

}  // namespace tern::v1::np
