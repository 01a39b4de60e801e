// A histogram of durations from 1 ns to hours. A bucket is at most 1 % wide.
#pragma once
#include <array>
#include <cstdint>

namespace tern::server::loadgen {

class Latencies {
 public:
  void Add(uint64_t ns);
  uint64_t count() const { return count_; }
  uint64_t max_ns() const { return max_; }
  double mean_ns() const { return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0; }
  // Returns 0 if no duration was added. `q` is 0 to 1.
  uint64_t Quantile(double q) const;

 private:
  static constexpr int kBits = 7;  // 128 buckets per power of two
  static constexpr int kBuckets = (64 - kBits) << kBits;
  static int Bucket(uint64_t ns);
  static uint64_t UpperEnd(int bucket);
  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0, sum_ = 0, max_ = 0;
};

}  // namespace tern::server::loadgen
