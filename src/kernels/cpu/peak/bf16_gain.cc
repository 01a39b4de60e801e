#include "kernels/cpu/peak/bf16_gain.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "kernels/cpu/peak/peak_amx_simd.h"
#include "kernels/cpu/peak/peak_bf16.h"
#include "kernels/cpu/peak/peak_simd.h"

namespace tern::cpu {
namespace {

// Each loop takes 10 to 40 microseconds. Trials alternate, so that both types meet the same clock rates, and
// the shortest times count, because other programs may interrupt some trials.
constexpr int kTrials = 20;
constexpr int64_t kRounds = 2000;

template <class F> double Nanoseconds(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// The loop of bf16 products with the instructions that kernels use.
struct Bf16Loop {
  bool amx;
  double flops() const {
#if TERN_AMX_PRODUCTS
    if (amx) return static_cast<double>(avx512_amx::kAmxPeak.bf16_flops);
#endif
    return static_cast<double>(kBf16RoundFlops);
  }
  float Run([[maybe_unused]] float factor) const {
#if TERN_AMX_PRODUCTS
    if (amx) return static_cast<float>(avx512_amx::kAmxPeak.bf16(kRounds));
#endif
    return Bf16Chains(kRounds, factor);
  }
};

double Measure(bool amx) {
  const Bf16Loop loop{amx};
  const PeakTable& table = Peak();
  volatile float factor = 0.5f, term = 1.f, sink = 0;  // keeps the compiler from folding the result
  double f32 = std::numeric_limits<double>::infinity(), bf16 = f32;
  for (int i = 0; i < kTrials; ++i) {
    f32 = std::min(f32, Nanoseconds([&] { sink = table.chains(kRounds, factor, term); }));
    bf16 = std::min(bf16, Nanoseconds([&] { sink = loop.Run(factor); }));
  }
  static_cast<void>(sink);
  return loop.flops() / static_cast<double>(table.flops) * (f32 / std::max(bf16, 1.0));
}

}  // namespace

double Bf16Gain() {
  if (!ActiveBf16Products()) return 0;
  if (ActiveAmx() == AmxMode::kOn) {
    static const double amx_gain = Measure(true);
    return amx_gain;
  }
  static const double gain = Measure(false);
  return gain;
}

std::optional<bool> ParseAuto(std::string_view text) {
  if (text == "bf16") return true;
  if (text == "fp32") return false;
  return std::nullopt;
}

bool Bf16Pays() {
  if (!ActiveBf16Products()) return false;
  const char* text = std::getenv("TERN_AUTO");
  if (const auto wanted = ParseAuto(text ? text : "")) return *wanted;
  return Bf16Gain() >= kBf16GainWanted;
}

}  // namespace tern::cpu
