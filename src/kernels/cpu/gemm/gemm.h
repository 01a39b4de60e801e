// Batched GEMM: c = epilogue(alpha * a·b + bias). f32, f16 and bf16 are computed in f32, and f64 in f64.
// Integers are computed in 32 or 64 bits with wrap-around.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/epilogue.h"

namespace tern::cpu {

struct MatrixRef {
  const void* data = nullptr;
  DType type = DType::kF32;
  int64_t row = 0, column = 0;  // strides in elements
};

// A function that generates the right-hand matrix b while it is packed, as im2col does. It writes columns
// [n0, n0 + count) of row k of matrix `batch` to `to`, in ComputeType(c_type).
using RowSource = void (*)(const void* context, int64_t batch, int64_t k, int64_t n0, int64_t count,
                           void* to);

struct GemmParams {
  int64_t m = 0, n = 0, k = 0;
  MatrixRef a, b;
  RowSource b_rows = nullptr;  // generates b, or null
  const void* b_context = nullptr;
  void* c = nullptr;  // row-major
  DType c_type = DType::kF32;
  int64_t c_row = 0;
  const void* row_bias = nullptr;      // m elements of c's type
  const void* column_bias = nullptr;   // n elements of c's type
  float alpha = 1;                     // must be 1 for integers
  bool accumulate = false;             // adds to c; must be false for f16 and bf16 results
  const Epilogue* epilogue = nullptr;  // element 0 of its result is at `c`

  // The number of products, and the offset of each matrix from the pointers above, in elements. If an array
  // is null, its offsets are 0.
  int64_t count = 1;
  const int64_t *a_at = nullptr, *b_at = nullptr, *c_at = nullptr, *bias_at = nullptr;
};

// Returns whether matrices of types a and b can be multiplied with a result of type c_type.
bool GemmTypes(DType a, DType b, DType c_type);

// Returns the bytes of scratch memory that Gemm needs with this number of threads. The number depends on
// sizes, types, strides, `accumulate`, and whether `b_rows` and `row_bias` are null.
size_t GemmScratch(const GemmParams& p, int threads);
// c must not overlap a and b. m, n, k may be 0.
void Gemm(const GemmParams& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
