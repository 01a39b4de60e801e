#include "kernels/cpu/peak/peak.h"

#include <algorithm>
#include <chrono>

#include "kernels/cpu/peak/peak_amx_simd.h"
#include "kernels/cpu/peak/peak_bf16.h"
#include "kernels/cpu/peak/peak_simd.h"
#include "kernels/cpu/peak/peak_vnni_simd.h"

namespace tern::cpu {
namespace {

constexpr int kMinTrials = 8, kMaxStale = 24;
constexpr double kMaxTime = 2e8;  // nanoseconds
constexpr double kGain = 1.005;
constexpr int64_t kRounds = 100'000;  // rounds per trial, which take one or two milliseconds

// Returns the best rate of repeated trials. In each trial every thread runs `chains` once. Other programs may
// slow down some trials. So trials are repeated until kMaxStale trials bring no improvement, or until
// kMaxTime has passed.
template <class F> double BestRate(const Workers& workers, int64_t flops, const F& chains) {
  using Clock = std::chrono::steady_clock;
  double best = 0, time = 0;
  volatile float sink = 0;
  for (int i = 0, stale = 0; i < kMinTrials || (time < kMaxTime && stale < kMaxStale); ++i) {
    const auto start = Clock::now();
    workers.ParallelFor(workers.threads(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) sink = chains();
    });
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    time += ns;
    const double rate = static_cast<double>(flops * kRounds * workers.threads()) / ns;
    stale = rate > best * kGain ? 0 : stale + 1;
    best = std::max(best, rate);
  }
  static_cast<void>(sink);
  return best;
}

}  // namespace

PeakRate MeasurePeak(const Workers& workers) {
  const PeakTable& table = Peak();
  volatile float factor = 0.5f, term = 1.f;  // keeps the compiler from folding the result
  PeakRate rate;
  rate.f32 = BestRate(workers, table.flops, [&] { return table.chains(kRounds, factor, term); });
  if (ActiveBf16Products())
    rate.bf16 = BestRate(workers, kBf16RoundFlops, [&] { return Bf16Chains(kRounds, factor); });
#if TERN_AMX_PRODUCTS
  if (ActiveAmx() == AmxMode::kOn) {
    const AmxPeakTable& amx = avx512_amx::kAmxPeak;
    rate.amx_bf16 = BestRate(workers, amx.bf16_flops, [&] { return static_cast<float>(amx.bf16(kRounds)); });
    rate.amx_int8 = BestRate(workers, amx.int8_ops, [&] { return static_cast<float>(amx.int8(kRounds)); });
  }
#endif
  if (!ActiveVnni()) return rate;
  volatile uint32_t pixels = 0x01020304;
  volatile int32_t weights = 0x01ff02fe;
  const BytePeakTable& bytes = BytePeak();
  rate.int8 = BestRate(workers, bytes.ops,
                       [&] { return static_cast<float>(bytes.chains(kRounds, pixels, weights)); });
  return rate;
}

}  // namespace tern::cpu
