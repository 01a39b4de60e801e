#include "kernels/cpu/conv/depthwise_nhwc.h"

#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"

namespace tern::cpu {
namespace {

// Returns a case with one image of size x (size + 1) and square windows.
NhwcCase Square(const char* name, int64_t channels, int64_t size, int64_t kernel, int64_t stride,
                int64_t dilation, int64_t begin) {
  return {name,
          {1,
           channels,
           channels,
           channels,
           {1, size, size + 1},
           {1, kernel, kernel},
           {1, stride, stride},
           {1, dilation, dilation},
           {0, begin, begin}}};
}

std::vector<NhwcCase> Cases() {
  std::vector<NhwcCase> cases = {
      {"one axis", {2, 24, 24, 24, {1, 1, 50}, {1, 1, 31}, {1, 1, 1}, {1, 1, 1}, {0, 0, 15}}},
      {"three axes", {2, 20, 20, 20, {4, 7, 9}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}}},
      {"not square", {1, 17, 17, 17, {1, 7, 9}, {1, 3, 1}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0}}},
      {"padding beyond the window", {1, 20, 20, 20, {1, 5, 5}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 5, 7}}},
      {"crop", {1, 20, 20, 20, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, -2, -1}}},
      {"no image", {0, 20, 20, 20, {1, 12, 13}, {1, 3, 3}}},
      {"several images", {3, 32, 32, 32, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}},
      Square("dilated", 40, 15, 3, 1, 2, 2),
      {"two dilations", {2, 37, 37, 37, {1, 11, 14}, {1, 3, 3}, {1, 1, 1}, {1, 2, 5}, {0, 1, 6}}},
      {"dilation beyond the image", {1, 20, 20, 20, {1, 4, 3}, {1, 3, 3}, {1, 1, 1}, {1, 5, 6}, {0, 5, 6}}},
      {"huge dilation",
       {1,
        20,
        20,
        20,
        {1, 4, 3},
        {1, 3, 3},
        {1, 1, 1},
        {1, 1ll << 40, 1ll << 40},
        {0, 1ll << 40, 1ll << 40}}},
      {"dilation and crop", {1, 20, 20, 20, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {1, 3, 2}, {0, -2, -1}}},
      {"dilation and stride", {1, 20, 20, 20, {1, 12, 13}, {1, 3, 3}, {1, 2, 2}, {1, 2, 2}, {0, 2, 2}}},
      Square("one pixel", 33, 1, 3, 1, 1, 1),
      Square("many channels", 700, 6, 3, 1, 1, 1),
  };
  for (int64_t kernel : {3, 5, 7})
    for (int64_t dilation : {2, 3, 4})
      for (int64_t channels : {3, 16, 37})
        cases.push_back(Square("dilated", channels, 13, kernel, 1, dilation, kernel / 2 * dilation));
  for (int64_t kernel : {2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      for (int64_t channels : {3, 16, 37})
        cases.push_back(Square("window", channels, 17 + stride, kernel, stride, 1, kernel / 2));
  return cases;
}

void Convolve(const NhwcCase& c, NhwcData& d, bool extra, int threads) {
  ASSERT_TRUE(NhwcDepthwise::Fits(c.shape)) << c.name;
  std::vector<float> packed(static_cast<size_t>(NhwcDepthwise::PackedSize(c.shape)) + 1);
  NhwcDepthwise::Pack(c.shape, d.w.data(), packed.data(), Workers(2));
  const NhwcDepthwise conv(c.shape);
  std::vector<double> scratch(conv.Scratch(threads) / sizeof(double) + 1,
                              std::numeric_limits<double>::quiet_NaN());
  NhwcArgs args{d.x.data(), packed.data(), d.y.data(), {}, nullptr};
  const Epilogue epilogue = d.Affine(c.shape);
  if (extra) args.tile = d.Tile(c.shape), args.epilogue = &epilogue;
  conv.Run(args, scratch.data(), Workers(threads));
}

class NhwcDepthwiseLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcDepthwiseLevels, testing::ValuesIn(LevelsHere()));

TEST_P(NhwcDepthwiseLevels, MatchesSumsInDouble) {
  for (const NhwcCase& c : Cases())
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        NhwcData d(c.shape);
        Convolve(c, d, extra, threads);
        d.Check(c, extra);
      }
}

TEST_P(NhwcDepthwiseLevels, IsTheSameForAnyNumberOfThreads) {
  for (const NhwcCase& c : Cases()) {
    NhwcData one(c.shape), many(c.shape);
    Convolve(c, one, true, 1);
    Convolve(c, many, true, 4);
    ASSERT_EQ(one.y, many.y) << c.name;
  }
}

TEST_P(NhwcDepthwiseLevels, KeepsGapsBetweenRows) {
  for (const NhwcCase& c : Cases()) CheckRowStride<NhwcDepthwise>(c.name, c.shape, Operands::kF32);
}

TEST_P(NhwcDepthwiseLevels, NaNPassesTheClip) {
  NhwcCase c = Square("nan", 20, 5, 3, 1, 1, 1);
  NhwcData d(c.shape);
  d.x[0] = std::numeric_limits<float>::quiet_NaN();
  Convolve(c, d, true, 1);
  int64_t count = 0;
  for (float v : d.y) count += std::isnan(v);
  EXPECT_EQ(count, 4);  // the windows that contain the corner
}

}  // namespace
}  // namespace tern::cpu
