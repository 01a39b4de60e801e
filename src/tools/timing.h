// A stopwatch, rounding and percentiles.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace tern::tools {

class Stopwatch {
 public:
  double Milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Rounds to 4 decimals, for JSON. Further digits of a measurement are noise.
inline double Rounded(double v) { return std::round(v * 1e4) / 1e4; }

// Returns the p-quantile of sorted samples by nearest rank. p is in [0, 1].
inline double Percentile(const std::vector<double>& sorted, double p) {
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace tern::tools
