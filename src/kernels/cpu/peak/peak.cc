#include "kernels/cpu/peak/peak.h"

#include <algorithm>
#include <chrono>

#include "kernels/cpu/peak/peak_bf16.h"
#include "kernels/cpu/peak/peak_simd.h"

namespace tern::cpu {
namespace {

constexpr int kTries = 8;
constexpr int64_t kRounds = 150'000;  // one to three milliseconds

// The best rate of a few tries in which every thread of the workers runs `chains` once.
template <class F> double BestRate(const Workers& workers, int64_t flops, const F& chains) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  volatile float sink = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto start = Clock::now();
    workers.ParallelFor(workers.threads(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) sink = chains();
    });
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(flops * kRounds * workers.threads()) / ns);
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
  if (HasBf16Products())
    rate.bf16 = BestRate(workers, kBf16RoundFlops, [&] { return Bf16Chains(kRounds, factor); });
  return rate;
}

}  // namespace tern::cpu
