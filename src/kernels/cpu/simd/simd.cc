#include "kernels/cpu/simd/simd.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "kernels/cpu/simd/amx.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tern::cpu {
namespace {

SimdLevel Detect() {
#if defined(__x86_64__)
  const auto has = [](bool feature) { return feature; };
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);  // clang's builtin does not know "f16c"
  const bool sse4 = has(__builtin_cpu_supports("sse4.2"));
  const bool avx2 = sse4 && f16c && has(__builtin_cpu_supports("avx2")) &&
                    has(__builtin_cpu_supports("fma")) && has(__builtin_cpu_supports("bmi2"));
  const bool avx512 = avx2 && has(__builtin_cpu_supports("avx512f")) &&
                      has(__builtin_cpu_supports("avx512bw")) && has(__builtin_cpu_supports("avx512vl")) &&
                      has(__builtin_cpu_supports("avx512dq"));
  return avx512 ? SimdLevel::kAvx512 : avx2 ? SimdLevel::kAvx2 : sse4 ? SimdLevel::kSse4 : SimdLevel::kBase;
#else
  return SimdLevel::kBase;
#endif
}

constexpr const char* kNames[] = {"base", "sse4", "avx2", "avx512"};
constexpr int kLevels = 4;
constexpr const char* kAmxName = "amx";  // avx512 with AMX

// The only level of this build, or -1 if the build contains all levels.
#if defined(TERN_ONE_ISA)
#define TERN_TEXT_OF(name) #name
#define TERN_TEXT(name) TERN_TEXT_OF(name)
constexpr int LevelNamed(std::string_view name) {
  for (int i = 0; i < kLevels; ++i)
    if (kNames[i] == name) return i;
  return kLevels;
}
constexpr int kOnlyLevel = LevelNamed(TERN_TEXT(TERN_ONE_ISA));
static_assert(kOnlyLevel < kLevels, "TERN_ISA must be base, sse4, avx2 or avx512");
#else
constexpr int kOnlyLevel = -1;
#endif

// The level to use. In a build with one level, it is that level. Otherwise it is the level that the
// environment variable TERN_ISA sets, or the best level of this machine if TERN_ISA is not set or cannot be
// used.
struct Requested {
  SimdLevel level = BestSimd();
  std::string problem;
  Requested() {
    const char* name = std::getenv("TERN_ISA");
    if (kOnlyLevel >= 0) UseOnlyLevel(name);
    if (kOnlyLevel >= 0 || !name || !*name) return;
    if (std::strcmp(name, kAmxName) == 0) {
      if (!HasAmx()) problem = Problem(name, "needs instructions that this machine lacks");
      return;
    }
    for (int i = 0; i < kLevels; ++i) {
      if (std::strcmp(name, kNames[i]) != 0) continue;
      if (i > static_cast<int>(level)) problem = Problem(name, "needs instructions that this machine lacks");
      level = std::min(level, static_cast<SimdLevel>(i));
      return;
    }
    problem = Problem(name, "is not an instruction set level");
  }

  void UseOnlyLevel(const char* name) {
    constexpr int kOnly = kOnlyLevel < 0 ? 0 : kOnlyLevel;
    const std::string build = std::string("this build of Tern has kernels for '") + kNames[kOnly] + "' only";
    if (kOnly > static_cast<int>(level))
      problem = build + ", but the best level of this machine is '" + NameOf(level) +
                "'; build with -DTERN_ISA=" + NameOf(level);
    else if (name && *name && std::strcmp(name, kNames[kOnly]) != 0)
      problem = build + ", but TERN_ISA='" + name + "'";
    level = static_cast<SimdLevel>(kOnly);
  }

  std::string Problem(const char* name, const char* what) const {
    std::string text = std::string("TERN_ISA='") + name + "' " + what + "; choose one of";
    for (int i = 0; i <= static_cast<int>(level); ++i) text += std::string(i ? ", " : " ") + kNames[i];
    return HasAmx() ? text + ", " + kAmxName : text;
  }
};
const Requested& Environment() {
  static const Requested requested;
  return requested;
}

std::atomic<SimdLevel>& Limit() {
  static std::atomic<SimdLevel> limit{Environment().level};
  return limit;
}

}  // namespace

SimdLevel BestSimd() {
  static const SimdLevel best = Detect();
  return best;
}

const char* NameOf(SimdLevel level) { return kNames[static_cast<int>(level)]; }

const char* SimdProblem() { return Environment().problem.c_str(); }

SimdLevel ActiveSimd() { return Limit().load(std::memory_order_relaxed); }

void LimitSimd(SimdLevel level) {
  if (kOnlyLevel < 0) Limit() = std::min(level, BestSimd());
}

}  // namespace tern::cpu
