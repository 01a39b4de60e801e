// TopK and cumulative sums and products along an axis.
#pragma once
#include <cstddef>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern::cpu {

// Returns whether the type is supported: f32, f64, i32 or i64.
bool HasOrder(DType type);

// TopK finds the k largest (or smallest) elements along the axis, in order. Equal elements are ordered by
// index. NaN counts as the largest. The scratch size is in bytes.
size_t TopKScratch(const AxisShape& shape, int threads);
void TopK(DType type, const AxisShape& shape, int64_t k, bool largest, const void* x, void* values,
          int64_t* indices, void* scratch, const Workers& workers);

// Computes cumulative sums or products along the axis. Integers wrap around.
void Cumulate(DType type, const AxisShape& shape, bool product, bool exclusive, bool reverse, const void* x,
              void* y, const Workers& workers);

}  // namespace tern::cpu
