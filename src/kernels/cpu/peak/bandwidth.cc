#include "kernels/cpu/peak/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "kernels/cpu/peak/peak_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 1 << 16;  // minimum 8-byte numbers per thread

std::atomic<int64_t> read_sum{0};  // makes the compiler keep the loads

}  // namespace

ReadProbe::ReadProbe(size_t bytes, const Workers& workers)
    : buffer_(Buffer::Allocate(bytes)), workers_(workers) {
  auto* numbers = reinterpret_cast<int64_t*>(buffer_.data());
  workers_.ParallelFor(static_cast<int64_t>(bytes / sizeof(int64_t)), kGrain,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) numbers[i] = static_cast<int64_t>(i);
                       });
}

double ReadProbe::Seconds() const {
  const auto* numbers = reinterpret_cast<const int64_t*>(buffer_.data());
  const auto start = std::chrono::steady_clock::now();
  workers_.ParallelFor(
      static_cast<int64_t>(buffer_.size() / sizeof(int64_t)), kGrain, [&](int64_t begin, int64_t end) {
        read_sum.fetch_add(Peak().sum(numbers + begin, end - begin), std::memory_order_relaxed);
      });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double ReadBandwidth(const Workers& workers) {
  constexpr size_t kBytes = size_t{64} << 20;
  constexpr int kRounds = 8;
  const ReadProbe probe(kBytes, workers);
  double best = 0;
  for (int round = 0; round < kRounds; ++round)
    best = std::max(best, static_cast<double>(kBytes) / probe.Seconds());
  return best;
}

}  // namespace tern::cpu
