// Support for tests that run at every instruction set that the machine has and TERN_ISA allows.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/cpu/simd/vnni.h"

namespace tern::cpu {

// Test levels are numbers. 0 to 3 are SimdLevels, with AVX512-BF16 and VNNI off. kBf16Products is BestSimd()
// with AVX512-BF16 on. kVnniProducts is BestSimd() with VNNI on. kAvxVnniProducts is AVX2 with AVX-VNNI.
// kAmxProducts is AVX-512 with all of them and AMX, kEmulatedAmx the same with emulated tile registers.
constexpr int kBf16Products = 4, kVnniProducts = 5, kAvxVnniProducts = 6, kAmxProducts = 7, kEmulatedAmx = 8;
inline bool IsAmx(int level) { return level == kAmxProducts || level == kEmulatedAmx; }

// Restores the active level and the switches of AVX512-BF16, VNNI and AMX in its destructor.
class LevelKeeper {
 public:
  LevelKeeper() = default;
  LevelKeeper(const LevelKeeper&) = delete;
  ~LevelKeeper() {
    LimitSimd(level_);
    LimitBf16Products(bf16_);
    LimitVnni(vnni_);
    LimitAmx(amx_);
  }

 private:
  const SimdLevel level_ = ActiveSimd();
  const bool bf16_ = Bf16ProductsLimit(), vnni_ = VnniLimit();
  const AmxMode amx_ = AmxLimit();
};

// Activates a level of LevelsHere, LevelsAndBf16Here or LevelsAndVnniHere. The caller must have a
// LevelKeeper, which restores the level afterwards.
inline void UseLevel(int level) {
  const int simd = level == kAvxVnniProducts ? static_cast<int>(SimdLevel::kAvx2) : level;
  LimitSimd(static_cast<SimdLevel>(std::min(simd, static_cast<int>(BestSimd()))));
  LimitBf16Products(level == kBf16Products || IsAmx(level));
  LimitVnni(level == kVnniProducts || level == kAvxVnniProducts || IsAmx(level));
  LimitAmx(level == kAmxProducts ? AmxMode::kOn : level == kEmulatedAmx ? AmxMode::kEmulated : AmxMode::kOff);
}

// Base class of tests whose parameter is the level. Usage:
// class PanelLevels : public EachLevel {};
// INSTANTIATE_TEST_SUITE_P(Simd, PanelLevels, testing::ValuesIn(LevelsHere()));
class EachLevel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { UseLevel(GetParam()); }

 private:
  const LevelKeeper keeper_;
};

// Returns all levels up to the active level, which is the best level of the machine or the level that
// TERN_ISA sets.
inline std::vector<int> LevelsHere() {
  std::vector<int> levels;
  for (int level = 0; level <= static_cast<int>(ActiveSimd()); ++level) levels.push_back(level);
  return levels;
}
// Appends kAmxProducts if AMX is in use, and kEmulatedAmx if it can be emulated at the active level.
inline void AppendAmx(std::vector<int>& levels) {
  if (ActiveAmx() == AmxMode::kOn) levels.push_back(kAmxProducts);
  if (CanEmulateAmx() && ActiveSimd() == SimdLevel::kAvx512) levels.push_back(kEmulatedAmx);
}
// Returns LevelsHere(), followed by kBf16Products if AVX512-BF16 is in use, and by the levels of AMX. For
// tests of kernels that also compute in bf16.
inline std::vector<int> LevelsAndBf16Here() {
  std::vector<int> levels = LevelsHere();
  if (!ActiveBf16Products()) return levels;
  levels.push_back(kBf16Products);
  AppendAmx(levels);
  return levels;
}
// Returns LevelsHere(), followed by kVnniProducts if VNNI is in use, by kAvxVnniProducts if AVX-VNNI is
// available below the active level, and by the levels of AMX. For tests of kernels of 8-bit numbers.
inline std::vector<int> LevelsAndVnniHere() {
  std::vector<int> levels = LevelsHere();
  if (ActiveVnni()) levels.push_back(kVnniProducts);
  if (VnniLimit() && ActiveSimd() > SimdLevel::kAvx2 && HasVnni(SimdLevel::kAvx2))
    levels.push_back(kAvxVnniProducts);
  if (ActiveVnni()) AppendAmx(levels);
  return levels;
}

// Returns random numbers in [-1, 1).
inline std::vector<float> Random(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = values(random);
  return v;
}

}  // namespace tern::cpu
