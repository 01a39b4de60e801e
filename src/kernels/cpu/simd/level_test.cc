#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

TEST(Levels, EndWithTheActiveOne) {
  const LevelKeeper keeper;
  for (int highest = 0; highest <= static_cast<int>(BestSimd()); ++highest) {
    LimitSimd(static_cast<SimdLevel>(highest));
    std::vector<int> want;
    for (int level = 0; level <= highest; ++level) want.push_back(level);
    EXPECT_EQ(LevelsHere(), want);
    if (highest == static_cast<int>(BestSimd()) && ActiveBf16Products()) {
      want.push_back(kBf16Products);
      if (ActiveAmx() == AmxMode::kOn) want.push_back(kAmxProducts);
      if (CanEmulateAmx()) want.push_back(kEmulatedAmx);
    }
    EXPECT_EQ(LevelsAndBf16Here(), want);
  }
}

// A test whose SetUp changes the level. The test below checks that its base class restores the level.
struct AtBase : EachLevel {
  void SetUp() override { LimitSimd(SimdLevel::kBase), LimitBf16Products(false); }
  void TestBody() override {}
};

TEST(Levels, AreRestoredAfterATest) {
  const LevelKeeper keeper;
  for (int level = 0; level <= static_cast<int>(BestSimd()); ++level)
    for (bool products : {false, HasBf16Products()}) {
      LimitSimd(static_cast<SimdLevel>(level));
      LimitBf16Products(products);
      {
        AtBase test;
        test.SetUp();
        EXPECT_EQ(ActiveSimd(), SimdLevel::kBase);
      }
      EXPECT_EQ(ActiveSimd(), static_cast<SimdLevel>(level));
      EXPECT_EQ(ActiveBf16Products(), products && ActiveSimd() == SimdLevel::kAvx512);
      EXPECT_EQ(Bf16ProductsLimit(), products);
    }
}

TEST(Levels, KeeperAtALowerLevelPreservesBf16) {
  const LevelKeeper keeper;
  LimitSimd(BestSimd());
  LimitBf16Products(true);
  const bool before = ActiveBf16Products();
  LimitSimd(SimdLevel::kBase);
  { const LevelKeeper below; }
  LimitSimd(BestSimd());
  EXPECT_EQ(ActiveBf16Products(), before);
}

}  // namespace
}  // namespace tern::cpu
