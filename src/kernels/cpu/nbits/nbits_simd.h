// Products of few rows with one panel of quantized weights (nbits.h), compiled per instruction set.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

constexpr int kMaxNBitsRows = 4;  // rows of a tile

// One panel of weights (NBitsLayout).
struct NBitsPanel {
  const uint8_t* records = nullptr;
  int64_t record_bytes = 0, zeros_at = 0, data_at = 0;
  int64_t depth = 0, step = 32, block = 32;  // block > 0
  int bits = 4;
  bool f16_scales = true, has_zeros = false;
  float zero = 0;  // if !has_zeros
};

// Rows of a that were prepared for integer products. Element k of a row is (digit 2 * 2^16 + digit 1 * 2^8 +
// digit 0) * scale, with one scale per step.
constexpr int kDigits = 3;
struct NBitsRow {
  int8_t* digits = nullptr;  // [kDigits][depth]
  float* scales = nullptr;   // one per step
  float* sums = nullptr;     // the sum of the row's elements, one per step
};

// c[rows, columns] = a·panel + bias.
struct NBitsTile {
  NBitsPanel panel;
  const float* a = nullptr;        // [rows][depth], zero-padded
  const float* sums = nullptr;     // [rows][depth / step], the sums of elements of each step
  const NBitsRow* rows = nullptr;  // replaces a and sums in DigitsTable
  const float* bias = nullptr;     // one per column, or null
  float* c = nullptr;
  int64_t c_row = 0, columns = 0;  // columns: 1 … NBitsTable::columns
};

struct NBitsTable {
  int columns;  // of a panel, the same as of the f32 tile
  // multiply[r] computes a tile of r rows.
  void (*multiply[kMaxNBitsRows + 1])(const NBitsTile& tile);
  // sums[i] = sum of the elements of step i. Returns false if an element is NaN or its magnitude is above
  // 1e30. `multiply` might then overflow, because it applies scales after the sums of a step.
  bool (*sums)(const float* a, int64_t steps, int64_t step, float* sums);
  // Prepares a row of `steps` steps. Returns false if an element is NaN, or the largest magnitude of a step
  // is above 1e30, or below 1e-30 and not 0.
  bool (*to_digits)(const float* a, int64_t steps, int64_t step, const NBitsRow& row);
  // Dequantizes rows [k0, k1) of the panel to [k1 - k0][columns]. k0 is a multiple of the step.
  void (*unpack)(const NBitsPanel& panel, int64_t k0, int64_t k1, float* to);
};
TERN_SIMD_TABLE(NBitsTable, NBitsSimd)

}  // namespace tern::cpu
