// Divides rows by their largest element, their L1 norm or their L2 norm.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

enum class RowNorm { kMax, kL1, kL2 };

// Computes y = x / norm of its row, in double. If `kind` is kMax, the norm is the largest element. A row
// whose norm is 0 is copied. T is float, double, int32_t or int64_t; integers are converted to float first.
template <class T>
void NormalizeRows(RowNorm kind, int64_t rows, int64_t width, const T* x, float* y, const Workers& workers);

}  // namespace tern::cpu
