#pragma once
#include "kernels/cpu/simd/amx.h"

namespace tern::cpu {

// Runs `rounds` rounds of products in four independent tile registers. ActiveAmx() must be AmxMode::kOn.
// Returns a value that depends on all products.
struct AmxPeakTable {
  int32_t (*bf16)(int64_t rounds);
  int32_t (*int8)(int64_t rounds);
  int64_t bf16_flops, int8_ops;  // operations of one round; a multiply-add counts as two
};
namespace avx512_amx {
extern const AmxPeakTable kAmxPeak;  // x86-64 only
}

}  // namespace tern::cpu
