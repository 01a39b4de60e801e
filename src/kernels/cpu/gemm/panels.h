// c = clip(a·b + bias + residual) in f32, with b packed into panels once: matrices of weights above all. a
// and b are multiplied as they are, or rounded to bf16: b when it is packed, a on the way. Sums are taken in
// an order that depends on the shape alone: the result is the same for any number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/epilogue.h"
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Words of k that are summed at once: a panel of it stays in the second cache. Longer sums are cut, and their
// parts added in c.
constexpr int64_t kMostPanelDepth = 1024;

// Words of 32 bits that the panels of b[k, n] take, for the instruction set that is active now.
int64_t PanelsSize(int64_t k, int64_t n, Operands operands = Operands::kF32);
// factor * b, with b's steps in elements.
struct PanelSource {
  const float* b = nullptr;
  int64_t row = 0, column = 1;
  float factor = 1;
};
void PackPanels(const PanelSource& source, int64_t k, int64_t n, float* panels, const Workers& workers,
                Operands operands = Operands::kF32);

// What is done to finished sums in registers, on their way to memory.
struct TileEpilogue {
  const float* bias = nullptr;      // one per column
  const float* residual = nullptr;  // laid out like c
  int64_t residual_row = 0;
  bool clip = false;
  float low = 0, high = 0;
  bool narrow_residual = false;  // it is bf16: for operands of bf16
};

struct PanelProduct {
  Operands operands = Operands::kF32;
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t a_row = 0, a_column = 1;  // steps in elements
  const float* panels = nullptr;
  float* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
  // What is in memory as bf16 already, for operands of bf16: a, with an even number of columns side by side
  // and even steps from row to row; c, which is not added to then and has no further epilogue.
  bool narrow_a = false, narrow_c = false;
  TileEpilogue tile;
  // Then, while the block is in cache. Its result is c as one array, counted from `c` minus c_at on.
  const Epilogue* epilogue = nullptr;
  int64_t c_at = 0;
};

size_t PanelScratch(const PanelProduct& p, int threads);  // bytes; looks at sizes and steps only
void MultiplyPanels(const PanelProduct& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
