#pragma once
#include "kernels/cpu/simd/vnni.h"

namespace tern::cpu {

struct BytePeakTable {
  // Runs independent chains of `rounds` dot products of four u8 and four i8 per lane. Measures the peak only
  // with VNNI: without VNNI, compilers move parts of a dot product out of the loop.
  int32_t (*chains)(int64_t rounds, uint32_t pixels, int32_t weights);
  int64_t ops;  // operations of one round; a multiply-add counts as two
};
TERN_VNNI_TABLE(BytePeakTable, BytePeak)

}  // namespace tern::cpu
