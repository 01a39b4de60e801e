// Order along an axis: the best elements, running sums.
#pragma once
#include <cstddef>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern::cpu {

// f32, f64, i32, i64.
bool HasOrder(DType type);

// The k best along the axis, best first, equal ones by position; NaN counts as the largest.
size_t TopKScratch(const AxisShape& shape, int threads);
void TopK(DType type, const AxisShape& shape, int64_t k, bool largest, const void* x, void* values,
          int64_t* indices, void* scratch, const Workers& workers);

// Running sums or products. Integers wrap around.
void Cumulate(DType type, const AxisShape& shape, bool product, bool exclusive, bool reverse, const void* x,
              void* y, const Workers& workers);

}  // namespace tern::cpu
