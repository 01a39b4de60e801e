#include "kernels/cpu/sort/sort.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace tern::cpu {
namespace {

template <class T> bool Better(bool largest, T a, T b) {
  if (a != a || b != b) return largest ? a != a && b == b : a == a && b != b;
  return largest ? a > b : a < b;
}

template <class T>
void Select(const AxisShape& s, int64_t k, bool largest, int64_t line, const T* x, T* values,
            int64_t* indices, int64_t* order) {
  const int64_t outer = line / s.inner, inner = line % s.inner;
  const T* from = x + outer * s.length * s.inner + inner;
  std::iota(order, order + s.length, int64_t{0});
  const auto before = [&](int64_t a, int64_t b) {
    const T p = from[a * s.inner], q = from[b * s.inner];
    return Better(largest, p, q) || (!Better(largest, q, p) && a < b);
  };
  if (k == s.length)
    std::sort(order, order + k, before);
  else
    std::partial_sort(order, order + k, order + s.length, before);
  for (int64_t i = 0; i < k; ++i) {
    const int64_t to = (outer * k + i) * s.inner + inner;
    values[to] = from[order[i] * s.inner];
    indices[to] = order[i];
  }
}

template <class T>
void RunTopK(const AxisShape& s, int64_t k, bool largest, const void* x, void* values, int64_t* indices,
             void* scratch, const Workers& workers) {
  workers.ParallelFor(s.outer * s.inner, std::max<int64_t>(1, 2048 / std::max<int64_t>(1, s.length)),
                      [&](int64_t begin, int64_t end, int worker) {
                        int64_t* order = static_cast<int64_t*>(scratch) + worker * s.length;
                        for (int64_t line = begin; line < end; ++line)
                          Select(s, k, largest, line, static_cast<const T*>(x), static_cast<T*>(values),
                                 indices, order);
                      });
}

// Floats are summed in f64. Integers are summed in 64 bits with wrap-around.
template <class T>
void RunCumulate(const AxisShape& s, bool product, bool exclusive, bool reverse, const void* x, void* y,
                 const Workers& workers) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  workers.ParallelFor(s.outer * s.inner, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, s.length)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t line = begin; line < end; ++line) {
                          const int64_t first = line / s.inner * s.length * s.inner + line % s.inner;
                          Sum sum = product ? Sum(1) : Sum(0);
                          for (int64_t i = 0; i < s.length; ++i) {
                            const int64_t at = first + (reverse ? s.length - 1 - i : i) * s.inner;
                            const Sum before = sum, v = static_cast<Sum>(static_cast<const T*>(x)[at]);
                            sum = product ? sum * v : sum + v;
                            static_cast<T*>(y)[at] = static_cast<T>(exclusive ? before : sum);
                          }
                        }
                      });
}

// Calls f with a value of the element type.
template <class F> void WithOrdered(DType type, const F& f) {
  switch (type) {
    case DType::kF32:
      return f(float{});
    case DType::kF64:
      return f(double{});
    case DType::kI32:
      return f(int32_t{});
    default:
      return f(int64_t{});
  }
}

}  // namespace

bool HasOrder(DType t) {
  return t == DType::kF32 || t == DType::kF64 || t == DType::kI32 || t == DType::kI64;
}

size_t TopKScratch(const AxisShape& s, int threads) {
  return static_cast<size_t>(s.length) * static_cast<size_t>(threads) * sizeof(int64_t);
}

void TopK(DType type, const AxisShape& s, int64_t k, bool largest, const void* x, void* values,
          int64_t* indices, void* scratch, const Workers& workers) {
  WithOrdered(
      type, [&](auto zero) { RunTopK<decltype(zero)>(s, k, largest, x, values, indices, scratch, workers); });
}

void Cumulate(DType type, const AxisShape& s, bool product, bool exclusive, bool reverse, const void* x,
              void* y, const Workers& workers) {
  WithOrdered(type,
              [&](auto zero) { RunCumulate<decltype(zero)>(s, product, exclusive, reverse, x, y, workers); });
}

}  // namespace tern::cpu
