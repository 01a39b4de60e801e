#include "kernels/cpu/elementwise/broadcast.h"

#include <cstring>

#include "kernels/cpu/support/width.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384;

template <class T> void CopyRows(const Broadcast<1>& b, const T* x, T* y, int64_t begin, int64_t end) {
  const int64_t step = b.steps[static_cast<size_t>(b.rank - 1)][0];
  EachRow<1>(b, begin, end, [&](const std::array<int64_t, 1>& at, int64_t to, int64_t n) {
    if (step)
      std::memcpy(y + to, x + at[0], static_cast<size_t>(n) * sizeof(T));
    else
      std::fill(y + to, y + to + n, x[at[0]]);
  });
}

template <class T>
void SelectRows(const Broadcast<3>& plan, const uint8_t* condition, const T* a, const T* b, T* y,
                int64_t begin, int64_t end) {
  const auto& step = plan.steps[static_cast<size_t>(plan.rank - 1)];
  EachRow<3>(plan, begin, end, [&](const std::array<int64_t, 3>& at, int64_t to, int64_t n) {
    const uint8_t* c = condition + at[0];
    const T *p = a + at[1], *q = b + at[2];
    T* out = y + to;
    if (!step[0]) {
      const T* from = *c ? p : q;
      if (step[*c ? 1 : 2])
        std::memcpy(out, from, static_cast<size_t>(n) * sizeof(T));
      else
        std::fill(out, out + n, *from);
    } else if (step[1] && step[2]) {
      for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? p[i] : q[i];
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? p[i * step[1]] : q[i * step[2]];
    }
  });
}

}  // namespace

void BroadcastCopy(const Broadcast<1>& b, const void* x, void* y, int width, const Workers& workers) {
  workers.ParallelFor(b.count, kGrain, [&](int64_t begin, int64_t end) {
    WithWidth(width, [&](auto zero) {
      using T = decltype(zero);
      CopyRows<T>(b, static_cast<const T*>(x), static_cast<T*>(y), begin, end);
    });
  });
}

void Select(const Broadcast<3>& plan, const uint8_t* condition, const void* a, const void* b, void* y,
            int width, const Workers& workers) {
  workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
    WithWidth(width, [&](auto zero) {
      using T = decltype(zero);
      SelectRows<T>(plan, condition, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(y),
                    begin, end);
    });
  });
}

}  // namespace tern::cpu
