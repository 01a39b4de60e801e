// Inner loops of softmax and log-softmax. y may equal x.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct SoftmaxTable {
  void (*rows)(const float* x, float* y, int64_t rows, int64_t n, bool log);
  // Computes softmax along the columns of [length, columns] with row stride `step`.
  void (*columns)(const float* x, float* y, int64_t length, int64_t step, int64_t columns, bool log);
};
TERN_SIMD_TABLE(SoftmaxTable, SoftmaxSimd)

}  // namespace tern::cpu
