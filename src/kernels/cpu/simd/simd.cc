#include "kernels/cpu/simd/simd.h"

#include <algorithm>
#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tern::cpu {
namespace {

SimdLevel Detect() {
#if defined(__x86_64__)
  const auto has = [](bool feature) { return feature; };
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c =
      __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);  // clang's builtin does not know its name
  const bool avx2 = f16c && has(__builtin_cpu_supports("avx2")) && has(__builtin_cpu_supports("fma")) &&
                    has(__builtin_cpu_supports("bmi2"));
  const bool avx512 = avx2 && has(__builtin_cpu_supports("avx512f")) &&
                      has(__builtin_cpu_supports("avx512bw")) && has(__builtin_cpu_supports("avx512vl")) &&
                      has(__builtin_cpu_supports("avx512dq"));
  return avx512 ? SimdLevel::kAvx512 : avx2 ? SimdLevel::kAvx2 : SimdLevel::kBase;
#else
  return SimdLevel::kBase;
#endif
}

std::atomic<SimdLevel>& Limit() {
  static std::atomic<SimdLevel> limit{BestSimd()};
  return limit;
}

}  // namespace

SimdLevel BestSimd() {
  static const SimdLevel best = Detect();
  return best;
}

SimdLevel ActiveSimd() { return Limit().load(std::memory_order_relaxed); }

void LimitSimd(SimdLevel level) { Limit() = std::min(level, BestSimd()); }

}  // namespace tern::cpu
