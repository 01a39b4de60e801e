// c = clip(a·b + bias + residual) in f32. b usually contains weights and is packed into panels once. Operands
// are multiplied as f32 or as bf16. For bf16, b is rounded when it is packed, and a is rounded when it is
// copied. The order of additions depends on the shape only, so the result is bit-identical for any number of
// threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/epilogue.h"
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Maximum dwords of k per pass. A dword is 32 bits of an operand: one f32, or two bf16 that are neighbours
// along k. A panel of this depth stays in the L2 cache. Longer sums take several passes, which accumulate in
// c. If c is bf16, it cannot store partial sums exactly, so sums of any length take one pass.
constexpr int64_t kMaxPanelDepth = 1024;

// Returns the number of dwords in the panels of b[k, n], for the active instruction set.
int64_t PanelsSize(int64_t k, int64_t n, Operands operands = Operands::kF32);
// The matrix factor * b, with strides in elements.
struct PanelSource {
  const float* b = nullptr;
  int64_t row = 0, column = 1;
  float factor = 1;
};
void PackPanels(const PanelSource& source, int64_t k, int64_t n, float* panels, const Workers& workers,
                Operands operands = Operands::kF32);

// Epilogue that is applied to finished sums in registers, before they are stored.
struct TileEpilogue {
  const float* bias = nullptr;      // one per column
  const float* residual = nullptr;  // laid out like c
  int64_t residual_row = 0;
  bool clip = false;
  float low = 0, high = 0;
  bool bf16_residual = false;  // residual is bf16 in memory; the operands must be kBf16
};

struct PanelProduct {
  Operands operands = Operands::kF32;
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t a_row = 0, a_column = 1;  // strides in elements
  const float* panels = nullptr;
  float* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
  // Whether a and c are bf16 in memory. If either is, the operands must be kBf16. If bf16_a, a must have an
  // even number of contiguous columns and an even row stride. If bf16_c, `accumulate` must be false and
  // `epilogue` must be null.
  bool bf16_a = false, bf16_c = false;
  TileEpilogue tile;
  // An epilogue that is applied after `tile`, while the block is in the cache. May be null. Element 0 of its
  // result is at the address c - c_at.
  const Epilogue* epilogue = nullptr;
  int64_t c_at = 0;
};

size_t PanelScratch(const PanelProduct& p, int threads);  // bytes; depends on sizes and strides only
void MultiplyPanels(const PanelProduct& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
