#include "kernels/cpu/conv/nhwc_taps.h"

#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"

namespace tern::cpu {
namespace {

NhwcCase Dilated(int64_t channels, int64_t maps, int64_t height, int64_t width, int64_t dilation,
                 int64_t stride = 1) {
  return {"dilated",
          {2,
           channels,
           maps,
           1,
           {1, height, width},
           {1, 3, 3},
           {1, stride, stride},
           {1, dilation, dilation},
           {0, dilation, dilation}}};
}

std::vector<NhwcCase> Cases() {
  std::vector<NhwcCase> cases = {
      {"one axis", {2, 24, 20, 1, {1, 1, 50}, {1, 1, 5}, {1, 1, 1}, {1, 1, 20}, {0, 0, 40}}},
      {"two dilations", {1, 17, 40, 1, {1, 9, 13}, {1, 3, 5}, {1, 1, 1}, {1, 6, 4}, {0, 6, 8}}},
      {"no padding", {1, 8, 8, 1, {1, 9, 13}, {1, 3, 3}, {1, 1, 1}, {1, 2, 2}, {0, 0, 0}}},
      {"no image", {0, 8, 8, 1, {1, 9, 13}, {1, 3, 3}, {1, 1, 1}, {1, 4, 4}, {0, 4, 4}}},
  };
  for (int64_t dilation : {1, 3, 7, 12})
    for (int64_t maps : {3, 16, 70}) {
      cases.push_back(Dilated(5, maps, 9, 11, dilation));
      cases.push_back(Dilated(33, maps, 8, 15, dilation, 2));
    }
  return cases;
}

void Convolve(const NhwcCase& c, NhwcData& d, bool extra, int threads) {
  ASSERT_TRUE(NhwcTaps::Fits(c.shape)) << c.name;
  std::vector<float> packed(static_cast<size_t>(NhwcTaps::PackedSize(c.shape)) + 1);
  NhwcTaps::Pack(c.shape, d.w.data(), packed.data(), Workers(2));
  NhwcArgs args{d.x.data(), packed.data(), d.y.data(), {}, nullptr};
  const Epilogue epilogue = d.Affine(c.shape);
  if (extra) args.tile = d.Tile(c.shape), args.epilogue = &epilogue;
  NhwcTaps(c.shape).Run(args, nullptr, Workers(threads));
}

class NhwcTapsLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcTapsLevels, testing::ValuesIn(LevelsHere()));

TEST_P(NhwcTapsLevels, MatchesSumsInDouble) {
  for (const NhwcCase& c : Cases())
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        NhwcData d(c.shape);
        Convolve(c, d, extra, threads);
        d.Check(c, extra);
      }
}

TEST_P(NhwcTapsLevels, IsTheSameForAnyNumberOfThreads) {
  for (const NhwcCase& c : Cases()) {
    NhwcData one(c.shape), many(c.shape);
    Convolve(c, one, true, 1);
    Convolve(c, many, true, 4);
    ASSERT_EQ(one.y, many.y) << c.name;
  }
}

TEST_P(NhwcTapsLevels, KeepsGapsBetweenRows) {
  for (const NhwcCase& c : Cases()) CheckRowStride<NhwcTaps>(c.name, c.shape, Operands::kF32);
}

TEST_P(NhwcTapsLevels, NaNPassesTheClip) {
  const NhwcCase c = Dilated(4, 20, 9, 11, 7);
  NhwcData d(c.shape);
  d.x[0] = std::numeric_limits<float>::quiet_NaN();
  Convolve(c, d, true, 1);
  int64_t count = 0;
  for (float v : d.y) count += std::isnan(v);
  EXPECT_EQ(count, 4 * 20);  // the corner, and the pixels 7 rows or columns from it
}

TEST(NhwcTaps, CountsOnlyPixels) {
  EXPECT_LT(NhwcTaps(Dilated(64, 64, 33, 33, 24).shape).Products(),
            0.5 * NhwcTaps(Dilated(64, 64, 33, 33, 1).shape).Products());
  // No tap reads pixels at all output positions.
  EXPECT_FALSE(NhwcTaps::Fits(
      NhwcCase("even", {1, 4, 4, 1, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {1, 4, 4}, {0, 2, 2}}).shape));
}

}  // namespace
}  // namespace tern::cpu
