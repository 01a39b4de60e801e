// Measures whether two CPUs share a core.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/pause.h"
#include "base/topology.h"

namespace tern::internal {
namespace {

constexpr int kRounds = 8000;  // iterations of the loop, which take about 20 microseconds
constexpr int kTries = 6;
// On hyperthreads of one core the loop takes about twice as long, because they share the multiplier.
constexpr double kShared = 1.5;

// Six chains of multiplications, which need all of the multiplier's throughput.
uint64_t Multiply() {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  uint64_t a = 3, b = 5, c = 7, d = 9, e = 11, f = 13;
  for (int i = 0; i < kRounds; ++i)
    a *= kFactor, b *= kFactor, c *= kFactor, d *= kFactor, e *= kFactor, f *= kFactor;
  return a ^ b ^ c ^ d ^ e ^ f;
}

std::atomic<uint64_t> result{0};  // keeps the compiler from removing the loop

double Nanoseconds() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  result.store(Multiply(), std::memory_order_relaxed);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

bool MoveTo(int cpu) {
  cpu_set_t sets[4];  // up to 4096 CPUs
  for (cpu_set_t& set : sets) CPU_ZERO(&set);
  CPU_SET_S(static_cast<size_t>(cpu), sizeof sets, sets);
  return sched_setaffinity(0, sizeof sets, sets) == 0;
}

// One thread of a pair. Runs the loop kTries times, each time together with the other thread.
double Fastest(int cpu, std::atomic<int>& arrived) {
  const bool moved = MoveTo(cpu);
  double fastest = moved ? 1e30 : 0;  // a CPU that may not be used counts as one that shares no core
  for (int i = 0; i < kTries; ++i) {
    arrived.fetch_add(1);
    for (int spins = 0; arrived.load() < 2 * (i + 1); ++spins)
      spins < 10'000 ? Pause() : std::this_thread::yield();
    fastest = std::min(fastest, Nanoseconds());
  }
  return fastest;
}

}  // namespace

CoreProbe::CoreProbe() : alone_(1e30) {
  for (int i = 0; i < 3 * kTries; ++i) alone_ = std::min(alone_, Nanoseconds());
}

bool CoreProbe::Shares(int cpu, int other) {
  std::atomic<int> arrived{0};
  double times[2] = {};
  // If the system refuses to start a thread, both times stay 0, and the CPUs count as different cores.
  try {
    std::thread first([&] {
      std::thread second;
      try {
        second = std::thread([&] { times[1] = Fastest(other, arrived); });
      } catch (const std::exception&) {
        return;
      }
      times[0] = Fastest(cpu, arrived);
      second.join();
    });
    first.join();
  } catch (const std::exception&) {
    return false;
  }
  return std::min(times[0], times[1]) > kShared * alone_;  // both are slow
}

}  // namespace tern::internal
