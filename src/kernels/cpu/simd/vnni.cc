#include "kernels/cpu/simd/vnni.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#if TERN_VNNI_PRODUCTS
#include <cpuid.h>
#endif

namespace tern::cpu {
namespace {

std::string_view Environment() {
  const char* value = std::getenv("TERN_VNNI");
  return value ? value : "";
}

std::atomic<bool>& Limit() {
  static std::atomic<bool> limit{Environment() != "0"};
  return limit;
}

#if TERN_VNNI_PRODUCTS
bool DetectAvxVnni() {
  constexpr unsigned kAvxVnni = 1u << 4;  // leaf 7, subleaf 1, register EAX
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || a < 1) return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni);
}
#endif

}  // namespace

bool HasVnni([[maybe_unused]] SimdLevel level) {
#if TERN_VNNI_PRODUCTS
  static const bool avx512 = __builtin_cpu_supports("avx512vnni"), avx2 = DetectAvxVnni();
  return level == SimdLevel::kAvx512 ? avx512 : level == SimdLevel::kAvx2 && avx2;
#else
  return false;
#endif
}

bool ActiveVnni() { return VnniLimit() && HasVnni(ActiveSimd()); }

void LimitVnni(bool on) { Limit() = on; }

const char* VnniProblem() {
  static const std::string problem = [] {
    const std::string_view value = Environment();
    if (value.empty() || value == "0" || value == "1") return std::string();
    return "TERN_VNNI='" + std::string(value) + "' is neither 0 nor 1";
  }();
  return problem.c_str();
}

bool VnniLimit() { return Limit().load(std::memory_order_relaxed); }

}  // namespace tern::cpu
