#include "kernels/cpu/byte/nhwc_byte_conv.h"

#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/byte/nhwc_byte_test_support.h"

namespace tern::cpu {
namespace {

class NhwcByteConvLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcByteConvLevels, testing::ValuesIn(LevelsAndVnniHere()));

TEST_P(NhwcByteConvLevels, MatchesPlainLoops) {
  for (const NhwcCase& c : NhwcCases())
    for (DType x : {DType::kU8, DType::kI8})
      CheckBytes<NhwcByteConv>(c, x, x == DType::kU8 ? DType::kI8 : DType::kU8, false);
}

TEST_P(NhwcByteConvLevels, AppliesEveryEpilogue) {
  const std::vector<NhwcCase> cases = {
      {"pointwise", {2, 8, 37, 1, {1, 6, 9}, {1, 1, 1}}},
      {"pointwise, groups", {1, 12, 72, 2, {1, 5, 6}, {1, 1, 1}}},
      {"3x3", {2, 16, 64, 1, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}},
      {"3x3, small image", {3, 20, 33, 1, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}},
      {"groups of 16", {2, 48, 96, 3, {1, 9, 10}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}},
  };
  for (const NhwcCase& c : cases) CheckBytes<NhwcByteConv>(c, DType::kU8, DType::kI8, true);
}

TEST_P(NhwcByteConvLevels, KeepsGapsBetweenPixels) {
  for (const NhwcCase& c : NhwcCases())
    if (c.shape.maps > 0 && c.shape.taps() < 20) CheckByteGaps<NhwcByteConv>(c);
}

// The estimates of a larger convolution are larger.
TEST(NhwcByteConv, CountsWork) {
  const NhwcCase one("", {1, 64, 64, 1, {1, 28, 28}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}),
      two("", {2, 64, 64, 1, {1, 28, 28}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}});
  const NhwcCounts a = NhwcByteConv(one.shape).Counts(), b = NhwcByteConv(two.shape).Counts();
  EXPECT_GE(a.products, 28 * 28 * 64 * 9 * 16 * std::min(1.0, ByteTileSimd().dot_cost));
  EXPECT_DOUBLE_EQ(b.products, 2 * a.products);
  EXPECT_DOUBLE_EQ(b.copied, 2 * a.copied);
  EXPECT_GT(a.copied, 28 * 28 * 16);
}

}  // namespace
}  // namespace tern::cpu
