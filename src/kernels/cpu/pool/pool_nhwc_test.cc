#include "kernels/cpu/pool/pool_nhwc.h"

#include <bit>
#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"
#include "kernels/cpu/pool/larger-inl.h"

namespace tern::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

const std::vector<NhwcCase> kCases = {
    {"3x3, stride 2", {2, 37, 37, 37, {1, 15, 17}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}},
    {"2x2", {1, 64, 64, 64, {1, 12, 14}, {1, 2, 2}, {1, 2, 2}}},
    {"5x5, line by line", {1, 70, 70, 70, {1, 9, 11}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}}},
    {"dilated", {1, 3, 3, 3, {1, 9, 11}, {1, 3, 3}, {1, 1, 1}, {1, 2, 2}, {0, 2, 2}}},
    {"one axis", {2, 16, 16, 16, {1, 1, 30}, {1, 1, 4}, {1, 1, 3}, {1, 1, 1}, {0, 0, 2}}},
    {"three axes", {2, 20, 20, 20, {5, 6, 7}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"windows outside", {1, 5, 5, 5, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 4, 4}}},
    {"kernel beyond the image", {1, 5, 5, 5, {2, 3, 4}, {7, 9, 11}, {2, 3, 2}, {1, 1, 1}, {3, 4, 5}}},
    {"dilated beyond it", {1, 5, 5, 5, {1, 4, 40}, {1, 3, 3}, {1, 1, 1}, {1, 9, 30}, {0, 9, 30}}},
    {"no pixel", {2, 5, 5, 5, {1, 0, 3}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}},
    {"no channel", {1, 0, 0, 1, {1, 3, 3}, {1, 2, 2}}},
};

// Counts the taps inside the image, along each axis.
PoolDivisors DivisorsOf(const ConvShape& s) {
  PoolDivisors divisors;
  for (size_t axis = 0; axis < 3; ++axis)
    for (int64_t o = 0; o < s.output[axis]; ++o) {
      int64_t count = 0;
      for (int64_t k = 0; k < s.kernel[axis]; ++k) {
        const int64_t at = o * s.stride[axis] + k * s.dilation[axis] - s.begin[axis];
        count += at >= 0 && at < s.input[axis];
      }
      divisors[axis].push_back(static_cast<float>(count));
    }
  return divisors;
}

std::vector<float> Pool(const NhwcCase& c, NhwcPool::Kind kind, const std::vector<float>& x, int threads) {
  const ConvShape& s = c.shape;
  const NhwcPool pool(kind, s, DivisorsOf(s));
  std::vector<double> scratch(pool.Scratch(threads) / sizeof(double) + 1);
  std::vector<float> y(static_cast<size_t>(s.batch * s.output_size() * s.channels), -77.f);
  pool.Run(x.data(), y.data(), scratch.data(), Workers(threads));
  return y;
}

// Calls f(index) for every tap of a window that is inside the image.
template <class F> void EachTap(const NhwcCase& c, int64_t pixel, const F& f) {
  const ConvShape& s = c.shape;
  const Spatial o{pixel / (s.output[2] * s.output[1]) % s.output[0], pixel / s.output[2] % s.output[1],
                  pixel % s.output[2]};
  for (int64_t tap = 0; tap < s.taps(); ++tap) {
    const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
    bool inside = true;
    int64_t at = pixel / s.output_size();
    for (size_t i = 0; i < 3; ++i) {
      const int64_t position = o[i] * s.stride[i] + t[i] * s.dilation[i] - s.begin[i];
      inside = inside && position >= 0 && position < s.input[i];
      at = at * s.input[i] + position;
    }
    if (inside) f(at);
  }
}

class NhwcPoolLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcPoolLevels, testing::ValuesIn(LevelsHere()));

TEST_P(NhwcPoolLevels, MatchesTheScalarLoop) {
  for (const NhwcCase& c : kCases)
    for (int threads : {1, 3}) {
      const ConvShape& s = c.shape;
      const std::vector<float> x = NhwcData(s).x;
      const std::vector<float> largest = Pool(c, NhwcPool::Kind::kMax, x, threads),
                               mean = Pool(c, NhwcPool::Kind::kAverage, x, threads);
      for (int64_t pixel = 0; pixel < s.batch * s.output_size(); ++pixel)
        for (int64_t channel = 0; channel < s.channels; ++channel) {
          float want = -std::numeric_limits<float>::infinity();
          double sum = 0, count = 0;
          EachTap(c, pixel, [&](int64_t at) {
            const float v = x[static_cast<size_t>(at * s.channels + channel)];
            want = std::max(want, v), sum += v, ++count;
          });
          const auto at = static_cast<size_t>(pixel * s.channels + channel);
          ASSERT_EQ(largest[at], want) << c.name << ": pixel " << pixel << ", channel " << channel;
          ASSERT_NEAR(mean[at], count > 0 ? sum / count : 0, 1e-5) << c.name << ": pixel " << pixel;
        }
    }
}

TEST_P(NhwcPoolLevels, WritesWithAPixelStride) {
  for (const NhwcCase& c : kCases)
    for (NhwcPool::Kind kind : {NhwcPool::Kind::kMax, NhwcPool::Kind::kAverage})
      for (int threads : {1, 3}) {
        const std::vector<float> x = NhwcData(c.shape).x;
        const NhwcPool pool(kind, c.shape, DivisorsOf(c.shape));
        std::vector<double> scratch(pool.Scratch(threads) / sizeof(double) + 1);
        RowStride rows(c.shape.batch * c.shape.output_size(), c.shape.channels);
        pool.Run(x.data(), rows.first(), scratch.data(), Workers(threads), rows.stride());
        ASSERT_EQ(rows.Joined(), Pool(c, kind, x, threads)) << c.name << ", " << threads << " threads";
      }
}

// A model may have kernels of any size. Taps outside the image must take neither memory nor time.
TEST_P(NhwcPoolLevels, NeedsLittleMemoryForAnyKernel) {
  constexpr int64_t kLarge = int64_t{1} << 30;
  NhwcCase c("large", {1, 2, 2, 2, {2, 3, 4}, {1, 1, 1}});
  c.shape.kernel = {kLarge, kLarge, kLarge}, c.shape.stride = {kLarge, kLarge, kLarge};
  c.shape.begin = {kLarge - 1, kLarge - 1, 0}, c.shape.output = {2, 2, 1};
  const std::vector<float> x = Random(2 * 3 * 4 * 2, 1);
  for (const auto kind : {NhwcPool::Kind::kMax, NhwcPool::Kind::kAverage}) {
    const NhwcPool pool(kind, c.shape, {{{1, 1}, {1, 2}, {4}}});
    ASSERT_LT(pool.Scratch(2), size_t{4096});
    std::vector<double> scratch(pool.Scratch(2) / sizeof(double) + 1);
    std::vector<float> y(8);
    pool.Run(x.data(), y.data(), scratch.data(), Workers(2));
    // The first window contains only the first line of the first plane.
    if (kind == NhwcPool::Kind::kMax)
      EXPECT_EQ(y[0], std::max({x[0], x[2], x[4], x[6]}));
    else
      EXPECT_NEAR(y[0], (x[0] + x[2] + x[4] + x[6]) / 4, 1e-6);
  }
}

TEST_P(NhwcPoolLevels, NaNWins) {
  const NhwcCase& c = kCases[0];
  NhwcData d(c.shape);
  d.x[5] = kNaN;
  for (NhwcPool::Kind kind : {NhwcPool::Kind::kMax, NhwcPool::Kind::kAverage}) {
    const std::vector<float> y = Pool(c, kind, d.x, 1);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i == 5) << i;
  }
}

// The result must have the same bits as Larger, also for pairs of zeros and pairs of NaNs. Each channel
// compares one pair.
TEST_P(NhwcPoolLevels, KeepsTheBitsOfTheLarger) {
  const uint32_t bits[] = {0x7fc00001, 0xffc00002, 0,          0x80000000,
                           0x3f800000, 0xbf800000, 0x7f800000, 0xff800000};
  const NhwcCase c("pairs", {1, 64, 64, 64, {1, 1, 2}, {1, 1, 2}});
  std::vector<float> x(128);
  for (size_t i = 0; i < 64; ++i)
    x[i] = std::bit_cast<float>(bits[i / 8]), x[64 + i] = std::bit_cast<float>(bits[i % 8]);
  const std::vector<float> y = Pool(c, NhwcPool::Kind::kMax, x, 1);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(Larger(x[i], x[64 + i])))
        << x[i] << " and " << x[64 + i];
}

TEST_P(NhwcPoolLevels, IsTheSameForAnyNumberOfThreads) {
  for (const NhwcCase& c : kCases) {
    const std::vector<float> x = NhwcData(c.shape).x;
    EXPECT_EQ(Pool(c, NhwcPool::Kind::kAverage, x, 1), Pool(c, NhwcPool::Kind::kAverage, x, 4)) << c.name;
  }
}

}  // namespace
}  // namespace tern::cpu
