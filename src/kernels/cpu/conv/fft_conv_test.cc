#include "kernels/cpu/conv/fft_conv.h"

#include <cstdio>
#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"

namespace tern::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class FftLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, FftLevels, testing::ValuesIn(LevelsHere()));

struct SizedCase {
  int log;
  NhwcCase c;
};

// Sides of an even and an odd power of two; images smaller and larger than tiles, ragged channels and maps,
// lines along either axis, dilated kernels, groups.
std::vector<SizedCase> Cases() {
  using N = NhwcCase::Numbers;
  const auto same = [](int64_t k) { return Spatial{0, k / 2, k / 2}; };
  return {
      {4, {"one pixel", N{1, 1, 1, 1, {1, 1, 1}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, same(3)}}},
      {4, {"7x7", N{2, 5, 9, 1, {1, 23, 19}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, same(7)}}},
      {4, {"no padding", N{1, 33, 40, 1, {1, 17, 30}, {1, 9, 5}}}},
      {5, {"11x11", N{1, 17, 35, 1, {1, 30, 50}, {1, 11, 11}, {1, 1, 1}, {1, 1, 1}, same(11)}}},
      {5, {"many tiles", N{3, 3, 8, 1, {1, 64, 64}, {1, 15, 15}, {1, 1, 1}, {1, 1, 1}, same(15)}}},
      {5, {"dilated", N{1, 8, 6, 1, {1, 40, 21}, {1, 5, 4}, {1, 1, 1}, {1, 4, 3}, {0, 8, 4}}}},
      {6, {"31x31", N{1, 6, 5, 1, {1, 40, 36}, {1, 31, 31}, {1, 1, 1}, {1, 1, 1}, same(31)}}},
      {4, {"groups", N{1, 24, 40, 4, {1, 20, 20}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, same(7)}}},
      {6, {"a column", N{1, 9, 7, 1, {1, 90, 3}, {1, 21, 1}, {1, 1, 1}, {1, 1, 1}, {0, 10, 0}}}},
      {6, {"a line", N{2, 20, 33, 1, {1, 1, 150}, {1, 1, 25}, {1, 1, 1}, {1, 1, 1}, {0, 0, 12}}}},
      {8, {"128 taps", N{1, 32, 48, 2, {1, 1, 300}, {1, 1, 128}, {1, 1, 1}, {1, 1, 1}, {0, 0, 64}}}},
      {10, {"500 taps", N{1, 3, 2, 1, {1, 1, 1500}, {1, 1, 500}, {1, 1, 1}, {1, 1, 1}, {0, 0, 9}}}},
  };
}
std::vector<SizedCase> EachChannel() {
  std::vector<SizedCase> cases = Cases();
  for (SizedCase& s : cases)
    s.c.shape.channels = s.c.shape.maps = s.c.shape.group = s.c.shape.channels + s.c.shape.maps;
  return cases;
}

TEST_P(FftLevels, MatchesSumsInDouble) {
  for (const auto& [log, c] : Cases())
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        ASSERT_TRUE(FftPlan::Fits(c.shape, log)) << c.name;
        NhwcData d(c.shape);
        ConvolveWith<FftConv>(c.shape, d, extra, threads, log);
        d.Check(c, extra);
      }
}

TEST_P(FftLevels, MatchesSumsInDoubleDepthwise) {
  for (const auto& [log, c] : EachChannel())
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        NhwcData d(c.shape);
        ConvolveWith<FftDepthwise>(c.shape, d, extra, threads, log);
        d.Check(c, extra);
      }
}

template <class Work> void CheckThreads(const SizedCase& s) {
  NhwcData one(s.c.shape);
  ConvolveWith<Work>(s.c.shape, one, true, 1, s.log);
  for (int threads : {2, 3, 8}) {
    NhwcData many(s.c.shape);
    ConvolveWith<Work>(s.c.shape, many, true, threads, s.log);
    ASSERT_EQ(one.y, many.y) << s.c.name << ", " << threads << " threads";
  }
}

TEST_P(FftLevels, IsTheSameForAnyNumberOfThreads) {
  for (const SizedCase& s : Cases()) CheckThreads<FftConv>(s);
  for (const SizedCase& s : EachChannel()) CheckThreads<FftDepthwise>(s);
}

// Tiles have 10 x 10 results: what is wrong in the last column reaches no other tile than the last.
TEST_P(FftLevels, NanAndInfinityStayInTheTilesThatSeeThem) {
  using N = NhwcCase::Numbers;
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    const NhwcCase c{"7x7", N{2, 5, 9, 1, {1, 26, 26}, {1, 7, 7}}};
    NhwcData d(c.shape);
    const ConvShape& s = c.shape;
    d.x[static_cast<size_t>(25 * 5 + 2)] = bad;  // the first image's right upper corner
    ConvolveWith<FftConv>(s, d, false, 3, 4);
    for (int64_t pixel = 0; pixel < s.batch * s.output_size(); ++pixel)
      for (int64_t map = 0; map < s.maps; ++map) {
        const bool seen = pixel < 10 * 20 && pixel % 20 >= 10, window = pixel == 19;
        const bool finite = std::isfinite(d.y[static_cast<size_t>(pixel * s.maps + map)]);
        if (seen && !window) continue;
        ASSERT_EQ(finite, !seen) << "pixel " << pixel;
      }
  }
}

// The table in docs/accuracy.md: errors against sums in double over the largest result, and root mean
// squares.
TEST(Fft, Accuracy) {
  using N = NhwcCase::Numbers;
  std::printf("| kernel, channels | direct | FFT |\n|---|---|---|\n");
  for (const auto& [kernel, log] : {std::pair{7, 4}, {7, 5}, {11, 5}, {31, 6}})
    for (const int64_t channels : {16, 64, 256}) {
      const NhwcCase c{"", N{1, channels, 8, 1, {1, kernel + 11, kernel + 11}, {1, kernel, kernel}}};
      const ConvShape& s = c.shape;
      NhwcData direct(s), fft(s);
      ConvolveWith<NhwcConv>(s, direct, false, 1);
      ConvolveWith<FftConv>(s, fft, false, 1, log);
      double most = 0, squares = 0, worst[2] = {0, 0}, error[2] = {0, 0};
      for (int64_t i = 0; i < s.output_size() * s.maps; ++i) {
        const double sum = fft.Sum(s, i / s.maps, i % s.maps);
        most = std::max(most, std::fabs(sum)), squares += sum * sum;
        const float got[2] = {direct.y[static_cast<size_t>(i)], fft.y[static_cast<size_t>(i)]};
        for (int w = 0; w < 2; ++w)
          worst[w] = std::max(worst[w], std::fabs(got[w] - sum)), error[w] += (got[w] - sum) * (got[w] - sum);
      }
      std::printf("| %dx%d, tiles of %d, %d |", kernel, kernel, 1 << log, static_cast<int>(channels));
      for (int w = 0; w < 2; ++w)
        std::printf(" %.1e / %.1e |", worst[w] / most, std::sqrt(error[w] / squares));
      std::printf("\n");
      EXPECT_LT(worst[1] / most, 5e-6);
    }
}

}  // namespace
}  // namespace tern::cpu
