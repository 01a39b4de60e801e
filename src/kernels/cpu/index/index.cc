#include "kernels/cpu/index/index.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/support/width.h"

namespace tern::cpu {
namespace {

constexpr int64_t kElementsPerTask = 16384;

int64_t Wrapped(int64_t index, int64_t size) { return index < 0 ? index + size : index; }
int64_t GrainOf(int64_t work) { return std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, work)); }

}  // namespace

int64_t FindBadIndex(const Indices& indices, int64_t first, int64_t stride, int64_t n, int64_t size) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = indices[first + i * stride];
    if (at < -size || at >= size) return first + i * stride;
  }
  return -1;
}

void Gather(const AxisShape& x, const Indices& indices, int64_t count, const void* from, void* y, int width,
            const Workers& workers) {
  const size_t bytes = static_cast<size_t>(x.inner) * static_cast<size_t>(width);
  const auto row = [&](int64_t i) { return (i / count * x.length + Wrapped(indices[i % count], x.length)); };
  workers.ParallelFor(x.outer * count, GrainOf(x.inner), [&](int64_t begin, int64_t end) {
    if (x.inner == 1) {
      WithWidth(width, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = begin; i < end; ++i) static_cast<T*>(y)[i] = static_cast<const T*>(from)[row(i)];
      });
      return;
    }
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(static_cast<char*>(y) + static_cast<size_t>(i) * bytes,
                  static_cast<const char*>(from) + static_cast<size_t>(row(i)) * bytes, bytes);
  });
}

int64_t Tuples::OffsetOf(int64_t tuple) const {
  int64_t at = per_batch ? tuple / per_batch * batch_step : 0;
  for (int64_t i = 0; i < size; ++i) {
    const auto k = static_cast<size_t>(i);
    at += Wrapped(indices[tuple * size + i], dims[k]) * steps[k];
  }
  return at;
}

void GatherTuples(const Tuples& t, const void* x, void* y, int width, const Workers& workers) {
  const size_t bytes = static_cast<size_t>(t.slice) * static_cast<size_t>(width);
  workers.ParallelFor(t.count, GrainOf(t.slice), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(
          static_cast<char*>(y) + static_cast<size_t>(i) * bytes,
          static_cast<const char*>(x) + static_cast<size_t>(t.OffsetOf(i)) * static_cast<size_t>(width),
          bytes);
  });
}

int64_t Elements::OffsetOf(int64_t element) const {
  int64_t at = 0, remaining = element;
  for (int i = rank; i-- > 0;) {
    const auto k = static_cast<size_t>(i);
    const int64_t index = i == axis ? Wrapped(indices[element], length) : remaining % dims[k];
    at += index * steps[k];
    remaining /= dims[k];
  }
  return at;
}

void GatherElements(const Elements& e, const void* x, void* y, int width, const Workers& workers) {
  workers.ParallelFor(e.count, kElementsPerTask / 4, [&](int64_t begin, int64_t end) {
    WithWidth(width, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = begin; i < end; ++i) static_cast<T*>(y)[i] = static_cast<const T*>(x)[e.OffsetOf(i)];
    });
  });
}

void OneHot(const Indices& indices, int64_t outer, int64_t depth, int64_t inner, const void* off_on, void* y,
            int width, const Workers& workers) {
  workers.ParallelFor(outer, GrainOf(depth * inner), [&](int64_t begin, int64_t end) {
    WithWidth(width, [&](auto zero) {
      using T = decltype(zero);
      T values[2];
      std::memcpy(values, off_on, sizeof values);
      T* to = static_cast<T*>(y);
      std::fill(to + begin * depth * inner, to + end * depth * inner, values[0]);
      for (int64_t i = begin * inner; i < end * inner; ++i) {
        const int64_t at = Wrapped(indices[i], depth);
        if (at >= 0 && at < depth) to[(i / inner * depth + at) * inner + i % inner] = values[1];
      }
    });
  });
}

}  // namespace tern::cpu
