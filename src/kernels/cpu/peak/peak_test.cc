#include "kernels/cpu/peak/peak.h"

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

std::vector<int> Levels() {
  std::vector<int> levels = LevelsAndBf16Here();
  if (ActiveVnni()) levels.push_back(kVnniProducts);
  return levels;
}

class PeakLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, PeakLevels, testing::ValuesIn(Levels()));

// The rates are those of the active instruction set, not those of the machine.
TEST_P(PeakLevels, CountsInstructionsInUse) {
  const PeakRate rate = MeasurePeak(Workers(1));
  EXPECT_GT(rate.f32, 0);
  EXPECT_EQ(rate.bf16 > 0, GetParam() == kBf16Products);
  EXPECT_EQ(rate.int8 > 0, GetParam() == kVnniProducts);
}

}  // namespace
}  // namespace tern::cpu
