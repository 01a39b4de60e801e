#include "server/load/latencies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tern::server::loadgen {

// Each number below 2^(kBits + 1) has its own bucket. Larger numbers share a bucket if their highest kBits +
// 1 bits are equal.
int Latencies::Bucket(uint64_t ns) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - kBits - 1);
  return (shift << kBits) + static_cast<int>(ns >> shift);
}

uint64_t Latencies::UpperEnd(int bucket) {
  const int shift = std::max(0, (bucket >> kBits) - 1);
  const uint64_t top = static_cast<uint64_t>(bucket - (shift << kBits));
  return ((top + 1) << shift) - 1;
}

void Latencies::Add(uint64_t ns) {
  ns = std::min(ns, uint64_t{1} << 62);
  ++counts_[static_cast<size_t>(Bucket(ns))];
  ++count_;
  sum_ += ns;
  max_ = std::max(max_, ns);
}

uint64_t Latencies::Quantile(double q) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_));
  uint64_t seen = 0;
  for (int b = 0; b < kBuckets; ++b) {
    seen += counts_[static_cast<size_t>(b)];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(UpperEnd(b), max_);
  }
  return max_;
}

}  // namespace tern::server::loadgen
