#include "kernels/cpu/nbits/rows_simd.h"

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// As unsigned integers, the bits of magnitudes have the order of the magnitudes, and infinities and NaN are
// the largest.
float Largest(const float* x, int64_t n) {
  uint32_t most = 0;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = BitsOf(x[i]) & 0x7fffffffu;
    most = bits > most ? bits : most;
  }
  return FloatOf(most);
}

void ToBytes(const float* x, int64_t n, float inverse, int8_t flip, int8_t* q) {
  if (inverse == 0) {
    for (int64_t i = 0; i < n; ++i) q[i] = flip;
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i)
    q[i] = static_cast<int8_t>(static_cast<int8_t>(static_cast<int32_t>(__builtin_rintf(x[i] * inverse))) ^
                               flip);
}

void ToFloats(const int8_t* q, int64_t n, float scale, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(q[i]) * scale;
}

void Rescale(float* c, int64_t n, float scale, const float* bias) {
  if (bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) c[i] = c[i] * scale + bias[i];
  } else {
    for (int64_t i = 0; i < n; ++i) c[i] *= scale;
  }
}

}  // namespace

const RowsTable kRowsSimd = {Largest, ToBytes, ToFloats, Rescale};

}  // namespace tern::cpu::TERN_SIMD
