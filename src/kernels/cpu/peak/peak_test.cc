#include "kernels/cpu/peak/peak.h"

#include "kernels/cpu/peak/bf16_gain.h"
#include "kernels/cpu/peak/peak_simd.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

std::vector<int> Levels() {
  std::vector<int> levels = LevelsAndBf16Here();
  if (ActiveVnni()) levels.push_back(kVnniProducts);
  std::erase(levels, kEmulatedAmx);  // has no rate of its own
  return levels;
}

class PeakLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, PeakLevels, testing::ValuesIn(Levels()));

// The rates are those of the active instruction set, not those of the machine.
TEST_P(PeakLevels, CountsInstructionsInUse) {
  const PeakRate rate = MeasurePeak(Workers(1));
  EXPECT_GT(rate.f32, 0);
  const bool amx = GetParam() == kAmxProducts;
  EXPECT_EQ(rate.bf16 > 0, GetParam() == kBf16Products || amx);
  EXPECT_EQ(rate.int8 > 0, GetParam() == kVnniProducts || amx);
  EXPECT_EQ(rate.amx_bf16 > 0, amx);
  EXPECT_EQ(rate.amx_int8 > 0, amx);
  EXPECT_EQ(rate.best_bf16(), amx ? rate.amx_bf16 : rate.bf16);
  EXPECT_EQ(rate.best_int8(), amx ? rate.amx_int8 : rate.int8);
}

// The gain is measured once, and only if bf16 instructions are in use.
TEST_P(PeakLevels, MeasuresTheGainOfBf16Once) {
  const double gain = Bf16Gain();
  EXPECT_EQ(gain > 0, GetParam() == kBf16Products || GetParam() == kAmxProducts);
  EXPECT_EQ(Bf16Gain(), gain);
  EXPECT_EQ(Bf16Pays(), gain >= kBf16GainWanted);
}

// The sum that measures memory bandwidth reads every number once, whatever the count.
TEST_P(PeakLevels, SumsAllNumbers) {
  std::vector<int64_t> numbers(1000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i + 1);
  for (int64_t count : {0, 1, 63, 64, 128, 129, 999, 1000})
    EXPECT_EQ(Peak().sum(numbers.data(), count), count * (count + 1) / 2) << count;
}

TEST(Bf16Gain, ReadsTheEnvironment) {
  EXPECT_EQ(ParseAuto("bf16"), true);
  EXPECT_EQ(ParseAuto("fp32"), false);
  EXPECT_EQ(ParseAuto(""), std::nullopt);
  EXPECT_EQ(ParseAuto("f32"), std::nullopt);
}

}  // namespace
}  // namespace tern::cpu
