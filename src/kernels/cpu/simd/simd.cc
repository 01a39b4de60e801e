#include "kernels/cpu/simd/simd.h"

#include <algorithm>
#include <atomic>

namespace tern::cpu {
namespace {

SimdLevel Detect() {
#if defined(__x86_64__)
  const auto has = [](bool feature) { return feature; };
  const bool avx2 = has(__builtin_cpu_supports("avx2")) && has(__builtin_cpu_supports("fma")) &&
                    has(__builtin_cpu_supports("bmi2")) && has(__builtin_cpu_supports("f16c"));
  const bool avx512 = avx2 && has(__builtin_cpu_supports("avx512f")) && has(__builtin_cpu_supports("avx512bw")) &&
                      has(__builtin_cpu_supports("avx512vl")) && has(__builtin_cpu_supports("avx512dq"));
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
