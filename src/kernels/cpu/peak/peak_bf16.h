#pragma once
#include <cstdint>

#include "kernels/cpu/simd/bf16.h"

namespace tern::cpu {

// Runs chains of `rounds` bf16 pair products. HasBf16Products() must be true.
float Bf16Chains(int64_t rounds, float factor);
constexpr int64_t kBf16RoundFlops = 2 * 2 * 16 * 12;

}  // namespace tern::cpu
