#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct PeakTable {
  // Runs independent chains of `rounds` multiply-adds. Returns a value that depends on all chains.
  float (*chains)(int64_t rounds, float factor, float term);
  int64_t flops;                                       // floating-point operations of one round
  int64_t (*sum)(const int64_t* from, int64_t count);  // adds numbers as fast as it reads them
};
TERN_SIMD_TABLE(PeakTable, Peak)

}  // namespace tern::cpu
