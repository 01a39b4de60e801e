#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct PeakTable {
  // Runs independent chains of `rounds` multiply-adds. Returns a value that depends on all chains.
  float (*chains)(int64_t rounds, float factor, float term);
  int64_t flops;  // floating-point operations of one round
};
TERN_SIMD_TABLE(PeakTable, Peak)

}  // namespace tern::cpu
