#include "kernels/cpu/peak/peak.h"

#include <algorithm>
#include <chrono>

#include "kernels/cpu/peak/peak_bf16.h"
#include "kernels/cpu/peak/peak_simd.h"

namespace tern::cpu {
namespace {

constexpr int kLeastTries = 8, kVainTries = 24;
constexpr double kMostTime = 2e8;  // nanoseconds
constexpr double kGain = 1.005;
constexpr int64_t kRounds = 100'000;  // one or two milliseconds

// The best rate of tries in which every thread of the workers runs `chains` once: as many as it takes until a
// row of them finds nothing better, for a machine may be busy with something else for a while; but not for
// ever.
template <class F> double BestRate(const Workers& workers, int64_t flops, const F& chains) {
  using Clock = std::chrono::steady_clock;
  double best = 0, time = 0;
  volatile float sink = 0;
  for (int i = 0, vain = 0; i < kLeastTries || (time < kMostTime && vain < kVainTries); ++i) {
    const auto start = Clock::now();
    workers.ParallelFor(workers.threads(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) sink = chains();
    });
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    time += ns;
    const double rate = static_cast<double>(flops * kRounds * workers.threads()) / ns;
    vain = rate > best * kGain ? 0 : vain + 1;
    best = std::max(best, rate);
  }
  static_cast<void>(sink);
  return best;
}

}  // namespace

PeakRate MeasurePeak(const Workers& workers) {
  const PeakTable& table = Peak();
  volatile float factor = 0.5f, term = 1.f;  // so that no compiler computes the result ahead
  PeakRate rate;
  rate.f32 = BestRate(workers, table.flops, [&] { return table.chains(kRounds, factor, term); });
  if (ActiveBf16Products())
    rate.bf16 = BestRate(workers, kBf16RoundFlops, [&] { return Bf16Chains(kRounds, factor); });
  return rate;
}

}  // namespace tern::cpu
