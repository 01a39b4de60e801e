// Rows divided by their size.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

enum class RowSize { kMax, kL1, kL2 };

// y = x / size of the row, in double; rows of size zero stay as they are. T: float, double, int32_t, int64_t;
// whole numbers count as floats.
template <class T>
void NormalizeRows(RowSize size, int64_t rows, int64_t width, const T* x, float* y, const Workers& workers);

}  // namespace tern::cpu
