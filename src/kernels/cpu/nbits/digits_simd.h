// Products of few rows of digits (NBitsRow) with one panel of quantized weights, by VNNI.
#pragma once
#include "kernels/cpu/nbits/nbits_simd.h"
#include "kernels/cpu/simd/vnni.h"

namespace tern::cpu {

constexpr int kMaxDigitRows = 3;  // with more rows, three products per weight take longer than unpacking

struct DigitsTable {
  // multiply[r] computes a tile of r rows. Null at levels without VNNI.
  void (*multiply[kMaxDigitRows + 1])(const NBitsTile& tile);
};
TERN_VNNI_TABLE(DigitsTable, DigitsSimd)

}  // namespace tern::cpu
