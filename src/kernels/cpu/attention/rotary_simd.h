// One head's features rotated in pairs.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// x and y hold 2 * half features; y may be x.
struct RotaryTable {
  // Feature i goes with i + half.
  void (*halves)(const float* x, const float* cosines, const float* sines, float* y, int64_t half);
  // Feature 2i goes with 2i + 1.
  void (*neighbours)(const float* x, const float* cosines, const float* sines, float* y, int64_t half);
};
TERN_SIMD_TABLE(RotaryTable, RotarySimd)

}  // namespace tern::cpu
