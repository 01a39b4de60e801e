// c = a·b with one level of Strassen's algorithm, in Winograd's form: it takes seven products of half the
// size instead of eight, and additional sums. b holds weights in panels; sums of its quarters are computed
// for a few columns at a time. Rounding errors are larger than those of a plain product
// (docs/reports/accuracy.md). The order of additions depends on the sizes only. A block of rows is computed
// as a plain product if rows that the algorithm would add to each other differ much in magnitude or are not
// finite. So no row affects the accuracy of another. StrassenBalanced checks b.
#pragma once
#include "kernels/cpu/gemm/panels.h"

namespace tern::cpu {

// Whether k is even and each half of b is an integer number of panels.
bool StrassenFits(int64_t k, int64_t n);
// Whether the weights in these panels suit the algorithm: the largest magnitudes of columns differ by a
// factor of at most about 4, and so do those of rows. Rounding errors are relative to the largest weight.
// They exceed those of a plain product if rows of b are small because columns of a are large.
bool StrassenBalanced(const float* panels, int64_t k, int64_t n);
// Returns the expected saving relative to the time of a plain product. It is at most 1/8, and negative if
// Strassen's algorithm is slower.
double StrassenGain(int64_t m, int64_t n, int64_t k);

// These functions are like PanelScratch and MultiplyPanels. Operands must be f32, and rows of a must be
// contiguous.
size_t StrassenScratch(const PanelProduct& p, int threads);
void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
