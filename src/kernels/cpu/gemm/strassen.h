// c = a·b with one level of Strassen's scheme (Winograd's form of it): seven products of half the size
// instead of eight, and some additions. b is a matrix of weights, whose sums are made when it is packed; that
// takes 7/4 of its memory. Rounds more than plain products do (docs/accuracy.md). Sums are taken in an order
// that depends on the sizes alone. Blocks of rows are computed without the scheme where rows that it would
// pair are of unlike size or not finite, so that no row spoils another one; what is not finite makes results
// of its own row NaN or infinite.
#pragma once
#include "kernels/cpu/gemm/panels.h"

namespace tern::cpu {

enum class StrassenPanels : uint8_t {
  kSummed,  // of PackStrassen
  kPlain,   // of PackPanels
};

// Halves of b are whole panels.
bool StrassenFits(int64_t k, int64_t n);
// What is expected to be saved of the time of a plain product: 0 … 1/8, negative where it loses.
double StrassenGain(int64_t m, int64_t n, int64_t k, StrassenPanels panels = StrassenPanels::kSummed);

int64_t StrassenSize(int64_t k, int64_t n);  // floats
void PackStrassen(const PanelSource& source, int64_t k, int64_t n, float* to, const Workers& workers);

// As PanelScratch and MultiplyPanels, in f32, with a's columns side by side.
size_t StrassenScratch(const PanelProduct& p, int threads, StrassenPanels panels = StrassenPanels::kSummed);
void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers,
                      StrassenPanels panels = StrassenPanels::kSummed);

}  // namespace tern::cpu
