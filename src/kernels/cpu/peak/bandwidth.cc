#include "kernels/cpu/peak/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 1 << 16;  // minimum 8-byte numbers per thread

std::atomic<uint64_t> read_sum{0};  // makes the compiler keep the loads

// Several sums, so that additions do not limit the speed.
uint64_t SumOf(const uint64_t* numbers, int64_t count) {
  constexpr int64_t kSums = 8;
  uint64_t sum[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int64_t j = 0; j < kSums; ++j) sum[j] += numbers[i + j];
  for (; i < count; ++i) sum[0] += numbers[i];
  return std::accumulate(sum, sum + kSums, uint64_t{0});
}

}  // namespace

ReadProbe::ReadProbe(size_t bytes, const Workers& workers)
    : buffer_(Buffer::Allocate(bytes)), workers_(workers) {
  auto* numbers = reinterpret_cast<uint64_t*>(buffer_.data());
  workers_.ParallelFor(static_cast<int64_t>(bytes / sizeof(uint64_t)), kGrain,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) numbers[i] = static_cast<uint64_t>(i);
                       });
}

double ReadProbe::Seconds() const {
  const auto* numbers = reinterpret_cast<const uint64_t*>(buffer_.data());
  const auto start = std::chrono::steady_clock::now();
  workers_.ParallelFor(static_cast<int64_t>(buffer_.size() / sizeof(uint64_t)), kGrain,
                       [&](int64_t begin, int64_t end) {
                         read_sum.fetch_add(SumOf(numbers + begin, end - begin), std::memory_order_relaxed);
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
