// c = a·b where b's columns lie one behind the other, as weights [n, k] do: b is read in place, as the left
// side of cᵀ = bᵀ·aᵀ, and blocks of the result are transposed over.
#pragma once
#include "kernels/cpu/gemm/gemm.h"

namespace tern::cpu {

// Whether that is the better way; looks at sizes, types and steps only.
bool WorthTransposing(const GemmParams& p);
size_t TransposedScratch(const GemmParams& p, int threads);
void GemmTransposed(const GemmParams& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
