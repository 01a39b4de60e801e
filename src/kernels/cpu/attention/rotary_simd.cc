#include "kernels/cpu/attention/rotary_simd.h"

namespace tern::cpu::TERN_SIMD {
namespace {

void Halves(const float* x, const float* cosines, const float* sines, float* y, int64_t half) {
#pragma omp simd
  for (int64_t i = 0; i < half; ++i) {
    const float a = x[i], b = x[i + half], c = cosines[i], s = sines[i];
    y[i] = c * a - s * b;
    y[i + half] = s * a + c * b;
  }
}

void Neighbours(const float* x, const float* cosines, const float* sines, float* y, int64_t half) {
#pragma omp simd
  for (int64_t i = 0; i < half; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1], c = cosines[i], s = sines[i];
    y[2 * i] = c * a - s * b;
    y[2 * i + 1] = s * a + c * b;
  }
}

}  // namespace

const RotaryTable kRotarySimd = {Halves, Neighbours};

}  // namespace tern::cpu::TERN_SIMD
