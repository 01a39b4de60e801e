// c = a·b with one level of Strassen's scheme (Winograd's form of it): seven products of half the size
// instead of eight, and some additions. b is a matrix of weights in panels; sums of its quarters are made for
// some columns at a time. Rounds more than plain products do (docs/reports/accuracy.md). Sums are taken in an
// order that depends on the sizes alone. Blocks of rows are computed without the scheme where rows that it
// would pair are of unlike size or not finite, so that no row spoils another one. Whether b is for it is for
// StrassenEven to say.
#pragma once
#include "kernels/cpu/gemm/panels.h"

namespace tern::cpu {

// Halves of b are whole panels.
bool StrassenFits(int64_t k, int64_t n);
// Whether these panels of PackPanels are for it: columns differ in size from each other by a factor of at
// most about 4, and so do rows. Results round relative to the largest of all: where rows of b are small
// because columns of a are large, that is more than plain sums do.
bool StrassenEven(const float* panels, int64_t k, int64_t n);
// What is expected to be saved of the time of a plain product: 0 … 1/8, negative where it loses.
double StrassenGain(int64_t m, int64_t n, int64_t k);

// As PanelScratch and MultiplyPanels, in f32, with a's columns side by side.
size_t StrassenScratch(const PanelProduct& p, int threads);
void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
