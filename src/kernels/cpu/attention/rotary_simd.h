// Rotates the features of one head in pairs, see rotary.h.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// x and y have 2 * half features; y may equal x.
struct RotaryTable {
  // Feature i is paired with i + half.
  void (*halves)(const float* x, const float* cosines, const float* sines, float* y, int64_t half);
  // Feature 2i is paired with 2i + 1.
  void (*neighbours)(const float* x, const float* cosines, const float* sines, float* y, int64_t half);
};
TERN_SIMD_TABLE(RotaryTable, RotarySimd)

}  // namespace tern::cpu
