// Sums of products over named axes, as a matrix product between copies that bring the axes in order.
#pragma once
#include <vector>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/move/copy.h"

namespace tern::cpu {

struct Contraction {
  DType type = DType::kF32;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  StridedCopy a, b;                       // to [batch, m, k] and [batch, k, n]
  StridedCopy y;                          // from [batch, m, n]
  std::vector<int64_t> a_at, b_at, y_at;  // where each matrix starts
};

size_t ContractionScratch(const Contraction& c, int threads);
void Contract(const Contraction& c, const void* a, const void* b, void* y, void* scratch,
              const Workers& workers);

}  // namespace tern::cpu
