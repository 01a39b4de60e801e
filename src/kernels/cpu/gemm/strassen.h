// c = a·b with one level of Strassen's algorithm, in Winograd's form. It computes seven products of matrices
// of half the size instead of eight, and additional sums. b contains weights in panels. Sums of the quarters
// of b are computed for a few columns at a time. Rounding errors are larger than those of a plain product
// (docs/reports/accuracy.md). The order of additions depends only on the sizes. The algorithm adds rows of a
// to each other. If such rows differ much in magnitude or are not finite, their block of rows is computed as
// a plain product instead. So no row affects the accuracy of another row. StrassenBalanced makes a similar
// check of b.
#pragma once
#include "kernels/cpu/gemm/panels.h"

namespace tern::cpu {

// Returns whether k is even and n / 2 columns of b fill an integer number of panels.
bool StrassenFits(int64_t k, int64_t n);
// Returns whether the weights in these panels suit the algorithm. The largest magnitudes of any two columns
// must differ by a factor of at most about 4, and so must those of any two rows. Rounding errors are relative
// to the largest weight. They would exceed those of a plain product if a row of b is small and the matching
// column of a is large.
bool StrassenBalanced(const float* panels, int64_t k, int64_t n);
// Returns the expected saving relative to the time of a plain product. It is at most 1/8, and negative if
// Strassen's algorithm is slower.
double StrassenGain(int64_t m, int64_t n, int64_t k);

// These functions have the contracts of PanelScratch and MultiplyPanels. Operands must be f32, and rows of a
// must be contiguous.
size_t StrassenScratch(const PanelProduct& p, int threads);
void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
