#include "kernels/cpu/simd/bf16.h"

#include <atomic>

#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {
namespace {

std::atomic<bool>& Active() {
  static std::atomic<bool> active{HasBf16Products()};
  return active;
}

}  // namespace

bool HasBf16Products() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

bool ActiveBf16Products() {
  return ActiveSimd() == SimdLevel::kAvx512 && Active().load(std::memory_order_relaxed);
}

void LimitBf16Products(bool on) { Active() = on && HasBf16Products(); }

}  // namespace tern::cpu
