#include "kernels/cpu/byte/nhwc_byte_test_support.h"

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
      Square("one pixel", 33, 1, 3, 1, 1, 1),
      Square("many channels", 200, 6, 3, 1, 1, 1),
      Square("few channels", 15, 6, 3, 1, 1, 1),
  };
  for (int64_t kernel : {2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      for (int64_t channels : {16, 37, 64, 97})
        cases.push_back(Square("window", channels, 9 + stride, kernel, stride, 1, kernel / 2));
  return cases;
}

class NhwcByteDepthwiseLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcByteDepthwiseLevels, testing::ValuesIn(LevelsAndVnniHere()));

TEST_P(NhwcByteDepthwiseLevels, MatchesPlainLoops) {
  for (const NhwcCase& c : Cases()) {
    ASSERT_TRUE(NhwcByteDepthwise::Fits(c.shape)) << c.name;
    for (DType x : {DType::kU8, DType::kI8})
      CheckBytes<NhwcByteDepthwise>(c, x, x == DType::kU8 ? DType::kI8 : DType::kU8, false);
  }
}

TEST_P(NhwcByteDepthwiseLevels, AppliesEveryEpilogue) {
  for (int64_t kernel : {3, 4})
    CheckBytes<NhwcByteDepthwise>(Square("window", 83, 9, kernel, 1, 1, 1), DType::kU8, DType::kI8, true);
}

// Sums times scales that do not fit into 32 bits saturate by their sign.
TEST_P(NhwcByteDepthwiseLevels, LargeScalesSaturate) {
  const NhwcByteData d(Square("window", 70, 6, 3, 1, 1, 1).shape, DType::kU8, DType::kI8);
  const int64_t channels = d.s.channels, pixels = d.s.output_size();
  ByteEpilogue e;
  e.to = FullRange(DType::kU8, 100);
  EpilogueCase c("large scales", e, pixels, channels, 9);
  for (size_t i = 0; i < c.scale.size(); ++i) c.scale[i] = i % 2 ? FiniteScale(INFINITY) : 1e6f;
  const auto got = ConvolveBytes<NhwcByteDepthwise>(d, c.e, 1);
  for (int64_t i = 0; i < pixels * channels; ++i)
    ASSERT_EQ(c.At(got, i), c.Expected(d.sums[static_cast<size_t>(i)], i / channels, i % channels)) << i;
}

TEST_P(NhwcByteDepthwiseLevels, KeepsGapsBetweenPixels) {
  for (const NhwcCase& c : Cases()) CheckByteGaps<NhwcByteDepthwise>(c);
}

}  // namespace
}  // namespace tern::cpu
