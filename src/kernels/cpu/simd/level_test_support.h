// Tests that run at every instruction set this machine has and the environment allows.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

constexpr int kBf16Products = 4;  // beside the SimdLevels 0 to 3: the best with products of bf16 pairs

// Puts back what was in use: the level, and the limit of bf16 products, which higher levels heed.
class LevelKeeper {
 public:
  LevelKeeper() = default;
  LevelKeeper(const LevelKeeper&) = delete;
  ~LevelKeeper() {
    LimitSimd(level_);
    LimitBf16Products(bf16_);
  }

 private:
  const SimdLevel level_ = ActiveSimd();
  const bool bf16_ = Bf16ProductsLimit();
};

// One of those below. Under a LevelKeeper.
inline void UseLevel(int level) {
  LimitSimd(static_cast<SimdLevel>(std::min(level, static_cast<int>(BestSimd()))));
  LimitBf16Products(level == kBf16Products);
}

// class PanelLevels : public EachLevel {};
// INSTANTIATE_TEST_SUITE_P(Simd, PanelLevels, testing::ValuesIn(LevelsHere()));
class EachLevel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { UseLevel(GetParam()); }

 private:
  const LevelKeeper keeper_;
};

// Up to the one in use: the machine's best, or what TERN_ISA allows.
inline std::vector<int> LevelsHere() {
  std::vector<int> levels;
  for (int level = 0; level <= static_cast<int>(ActiveSimd()); ++level) levels.push_back(level);
  return levels;
}
// For kernels that compute in bf16 too.
inline std::vector<int> LevelsAndBf16Here() {
  std::vector<int> levels = LevelsHere();
  if (ActiveBf16Products()) levels.push_back(kBf16Products);
  return levels;
}

// In [-1, 1).
inline std::vector<float> Random(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = values(random);
  return v;
}

}  // namespace tern::cpu
