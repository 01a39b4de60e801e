// Computes the numbers of rand(SEED) and rand(SEED,LOW,HIGH) in .case and .rule files.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace tern {

constexpr double kRandLow = -1, kRandHigh = 1;  // the range of rand(SEED)

// Returns numbers in [low, high), which are the same on every machine.
inline std::vector<double> RandomNumbers(int64_t count, uint64_t seed, double low, double high) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(low + static_cast<double>(random() >> 11) * 0x1p-53 * (high - low));
  return values;
}

}  // namespace tern
