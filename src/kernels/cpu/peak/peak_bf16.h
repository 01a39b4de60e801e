#pragma once
#include <cstdint>

#include "kernels/cpu/simd/bf16.h"

namespace tern::cpu {

// Chains of bf16 pair products, `rounds` long. Only where HasBf16Products().
float Bf16Chains(int64_t rounds, float factor);
constexpr int64_t kBf16RoundFlops = 2 * 2 * 16 * 12;

}  // namespace tern::cpu
