// Vectors of eight numbers. Transforms run on eight signals at a time, one in each lane, so that every
// butterfly is a vector instruction. They compute in double precision. In single precision, the rounding
// errors of a loud band would be visible in the logarithm of a quiet band.
#pragma once
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

// Compiles a function for several instruction sets. The dynamic linker chooses the best version that the
// machine supports. For that it calls a resolver function, which sanitizers cannot run.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TERN_AUDIO_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TERN_AUDIO_CLONES
#endif

namespace tern::data {

constexpr int kLanes = 8;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
using FloatLanes = float __attribute__((vector_size(kLanes * sizeof(float))));

struct ComplexLanes {
  Lanes re, im;
};

// Allocates vectors where every instruction set can load them. alignof(Lanes) is less without AVX-512.
template <class T> struct LaneAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  LaneAllocator() = default;
  template <class U> LaneAllocator(const LaneAllocator<U>&) {}  // NOLINT: implicit as the standard demands
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, size_t) { ::operator delete(p, kAlignment); }
  bool operator==(const LaneAllocator&) const { return true; }
};
using LaneBuffer = std::vector<Lanes, LaneAllocator<Lanes>>;
using ComplexBuffer = std::vector<ComplexLanes, LaneAllocator<ComplexLanes>>;

// Returns the dot product of two arrays of `n` floats.
[[gnu::always_inline]] inline float DotProduct(const float* a, const float* b, size_t n) {
  FloatLanes sum[2] = {};
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    FloatLanes x[2], y[2];
    std::memcpy(x, a + i, sizeof x);
    std::memcpy(y, b + i, sizeof y);
    sum[0] += x[0] * y[0];
    sum[1] += x[1] * y[1];
  }
  sum[0] += sum[1];
  float total = 0;
  for (int lane = 0; lane < kLanes; ++lane) total += sum[0][lane];
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

}  // namespace tern::data
