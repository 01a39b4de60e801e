#include "kernels/cpu/conv/nhwc_conv_transpose.h"

#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"

namespace tern::cpu {
namespace {

struct Case {
  const char* name;
  ConvShape shape;
};

// `extra` is the output_padding of axes whose stride is more than 1.
Case Make(const char* name, const NhwcCase::Numbers& n, int64_t extra = 0) {
  NhwcCase c(name, n);
  for (size_t i = 0; i < 3; ++i)
    c.shape.output[i] = (n.input[i] - 1) * n.stride[i] + (n.kernel[i] - 1) * n.dilation[i] + 1 -
                        2 * n.begin[i] + (n.stride[i] > 1 ? extra : 0);
  return {name, c.shape};
}

const std::vector<Case> kCases = {
    Make("2x2, stride 2", {2, 33, 20, 1, {1, 7, 8}, {1, 2, 2}, {1, 2, 2}}),
    Make("3x3, stride 1", {1, 20, 17, 1, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}),
    Make("3x3, stride 2", {1, 20, 17, 1, {1, 9, 8}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}, 1),
    Make("4x4, stride 2", {1, 40, 32, 1, {1, 9, 10}, {1, 4, 4}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}),
    Make("kernel below stride", {1, 6, 5, 1, {1, 4, 5}, {1, 1, 2}, {1, 3, 3}}, 2),
    Make("dilated", {1, 6, 5, 1, {1, 8, 9}, {1, 3, 3}, {1, 1, 1}, {1, 2, 3}, {0, 1, 2}}),
    Make("large crop", {1, 6, 5, 1, {1, 8, 9}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 5, 4}}),
    Make("groups", {1, 32, 48, 4, {1, 6, 7}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}),
    Make("one per channel", {1, 20, 20, 20, {1, 6, 7}, {1, 4, 4}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}),
    Make("one axis", {2, 24, 12, 1, {1, 1, 20}, {1, 1, 16}, {1, 1, 8}, {1, 1, 1}, {0, 0, 4}}),
    Make("three axes", {1, 8, 6, 1, {3, 4, 5}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}}, 1),
    Make("no map", {1, 8, 0, 1, {1, 4, 5}, {1, 3, 3}, {1, 2, 2}}),
    Make("no channel", {1, 0, 8, 1, {1, 4, 5}, {1, 3, 3}, {1, 2, 2}}),
    Make("one pixel", {1, 8, 40, 1, {1, 1, 1}, {1, 4, 4}, {1, 1, 1}}),
};

// Computes y by definition: adds every element of x times the kernel to a window of y.
std::vector<double> Reference(const ConvShape& s, const NhwcData& d) {
  std::vector<double> y(d.y.size(), 0);
  const int64_t maps = s.group_maps(), channels = s.group_channels();
  for (int64_t pixel = 0; pixel < s.batch * s.input_size(); ++pixel)
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      const Spatial i{pixel / (s.input[2] * s.input[1]) % s.input[0], pixel / s.input[2] % s.input[1],
                      pixel % s.input[2]};
      const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
      int64_t at = pixel / s.input_size();
      bool inside = true;
      for (size_t axis = 0; axis < 3; ++axis) {
        const int64_t o = i[axis] * s.stride[axis] + t[axis] * s.dilation[axis] - s.begin[axis];
        inside = inside && o >= 0 && o < s.output[axis];
        at = at * s.output[axis] + o;
      }
      if (!inside) continue;
      for (int64_t c = 0; c < s.channels; ++c)
        for (int64_t m = 0; m < maps; ++m)
          y[static_cast<size_t>(at * s.maps + c / channels * maps + m)] +=
              double{d.x[static_cast<size_t>(pixel * s.channels + c)]} *
              d.w[static_cast<size_t>((c * maps + m) * s.taps() + tap)];
    }
  return y;
}

void Convolve(const Case& c, NhwcData& d, bool extra, int threads) {
  ASSERT_TRUE(NhwcConvTranspose::Fits(c.shape)) << c.name;
  ConvolveWith<NhwcConvTranspose>(c.shape, d, extra, threads);
}

class NhwcConvTransposeLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcConvTransposeLevels, testing::ValuesIn(LevelsHere()));

TEST_P(NhwcConvTransposeLevels, MatchesSumsInDouble) {
  for (const Case& c : kCases)
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        NhwcData d(c.shape);
        Convolve(c, d, extra, threads);
        const std::vector<double> sums = Reference(c.shape, d);
        for (size_t i = 0; i < sums.size(); ++i) {
          double want = sums[i];
          if (extra) want = 0.5 * std::clamp(want + d.bias[i % d.bias.size()] + d.residual[i], -1.5, 2.0) + 3;
          ASSERT_NEAR(d.y[i], want, 1e-4) << c.name << (extra ? ", with epilogue" : "") << ": element " << i;
        }
      }
}

TEST_P(NhwcConvTransposeLevels, IsTheSameForAnyNumberOfThreads) {
  for (const Case& c : kCases) {
    NhwcData one(c.shape), many(c.shape);
    Convolve(c, one, true, 1);
    Convolve(c, many, true, 4);
    ASSERT_EQ(one.y, many.y) << c.name;
  }
}

TEST_P(NhwcConvTransposeLevels, KeepsGapsBetweenRows) {
  for (const Case& c : kCases) CheckRowStride<NhwcConvTranspose>(c.name, c.shape, Operands::kF32);
}

TEST(NhwcConvTranspose, RefusesStrideWithDilation) {
  ConvShape s;
  s.stride = {1, 1, 2}, s.dilation = {1, 2, 1};
  EXPECT_TRUE(NhwcConvTranspose::Fits(s));
  s.dilation = {1, 1, 2};
  EXPECT_FALSE(NhwcConvTranspose::Fits(s));
  s.stride = {1, 100, 1};
  EXPECT_FALSE(NhwcConvTranspose::Fits(s));
}

TEST(NhwcConvTranspose, RefusesWideDilations) {
  ConvShape s;
  s.kernel = {1, 3, 3}, s.dilation = {1, 8, 8};
  EXPECT_TRUE(NhwcConvTranspose::Fits(s));
  s.dilation = {1, 1000, 1};
  EXPECT_FALSE(NhwcConvTranspose::Fits(s));
  s.kernel = {1, 1, 3};  // the dilated axis has one tap
  EXPECT_TRUE(NhwcConvTranspose::Fits(s));
  s.kernel = {1 << 30, 1 << 30, 1 << 30}, s.dilation = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_FALSE(NhwcConvTranspose::Fits(s));
}

}  // namespace
}  // namespace tern::cpu
