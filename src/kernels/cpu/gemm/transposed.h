// c = a·b for a column-major b, such as weights [n, k]. Computes cᵀ = bᵀ·aᵀ, so that b is read in place as
// the left operand. Then transposes blocks of the result.
#pragma once
#include "kernels/cpu/gemm/gemm.h"

namespace tern::cpu {

// Returns whether the transposed product is faster than packing b. The result depends on sizes, strides,
// `accumulate`, and whether `row_bias` is null.
bool WorthTransposing(const GemmParams& p);
// These functions have the contracts of GemmScratch and Gemm.
size_t TransposedScratch(const GemmParams& p, int threads);
void GemmTransposed(const GemmParams& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
