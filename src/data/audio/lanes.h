// Vectors of eight numbers. Transforms run on eight signals at a time, one in each lane, so that every
// butterfly is a vector instruction. They compute in double precision, because the logarithm of a quiet band
// would show the rounding errors of a loud one.
#pragma once
#include <cstddef>
#include <cstring>

namespace tern::data {

constexpr int kLanes = 8;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
using FloatLanes = float __attribute__((vector_size(kLanes * sizeof(float))));

struct ComplexLanes {
  Lanes re, im;
};

// Returns the dot product of two arrays of `n` floats.
inline float DotProduct(const float* a, const float* b, size_t n) {
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
