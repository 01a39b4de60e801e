#include "kernels/cpu/peak/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "core/buffer.h"

namespace tern::cpu {

double ReadBandwidth(const Workers& workers) {
  constexpr size_t kBytes = size_t{64} << 20;
  constexpr int kRounds = 8;
  const Buffer buffer = Buffer::Allocate(kBytes);
  auto* data = reinterpret_cast<uint64_t*>(buffer.data());
  constexpr auto kElements = static_cast<int64_t>(kBytes / sizeof(uint64_t));
  workers.ParallelFor(kElements, 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) data[i] = static_cast<uint64_t>(i);
  });
  std::atomic<uint64_t> sum{0};  // keeps the compiler from removing the loads
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    workers.ParallelFor(kElements, 1 << 16, [&](int64_t begin, int64_t end) {
      uint64_t part = 0;
      for (int64_t i = begin; i < end; ++i) part += data[i];
      sum.fetch_add(part, std::memory_order_relaxed);
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, static_cast<double>(kBytes) / seconds);
  }
  return sum.load() == 1 ? 0 : best;
}

}  // namespace tern::cpu
