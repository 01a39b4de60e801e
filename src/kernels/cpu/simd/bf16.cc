#include "kernels/cpu/simd/bf16.h"

#include <atomic>

#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {
namespace {

std::atomic<bool>& Limit() {
  static std::atomic<bool> limit{HasBf16Products()};
  return limit;
}

}  // namespace

bool HasBf16Products() {
#if TERN_BF16_PRODUCTS
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

bool ActiveBf16Products() { return ActiveSimd() == SimdLevel::kAvx512 && Bf16ProductsLimit(); }

void LimitBf16Products(bool on) { Limit() = on && HasBf16Products(); }

bool Bf16ProductsLimit() { return Limit().load(std::memory_order_relaxed); }

}  // namespace tern::cpu
