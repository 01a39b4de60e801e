// Tensor contraction (Einsum of two operands). First copies both operands with permuted axes, then computes a
// batched matrix product, then copies the result with permuted axes. A copy that would change nothing is left
// out.
#pragma once
#include <vector>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/move/copy.h"

namespace tern::cpu {

struct Contraction {
  DType type = DType::kF32;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  StridedCopy a, b;                       // permute the operands to [batch, m, k] and [batch, k, n]
  StridedCopy y;                          // permutes the result from [batch, m, n]
  std::vector<int64_t> a_at, b_at, y_at;  // offset of each matrix of the batch, in elements
};

// Returns the bytes of scratch memory that Contract needs with this number of threads.
size_t ContractionScratch(const Contraction& c, int threads);
void Contract(const Contraction& c, const void* a, const void* b, void* y, void* scratch,
              const Workers& workers);

}  // namespace tern::cpu
