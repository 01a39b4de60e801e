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

// The cases cover even and odd powers of two, images smaller and larger than tiles, partial vectors of input
// and output channels, kernels along one axis, dilated kernels, and groups.
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
std::vector<SizedCase> DepthwiseCases() {
  std::vector<SizedCase> cases = Cases();
  for (SizedCase& s : cases)
    s.c.shape.channels = s.c.shape.maps = s.c.shape.group = s.c.shape.channels + s.c.shape.maps;
  return cases;
}

// Each element of a tile must be listed exactly once: as a frequency, as the conjugate of a frequency, or as
// a frequency that is its own conjugate.
TEST_P(FftLevels, ListsEachFrequencyOnce) {
  for (const auto& [log, c] : Cases()) {
    const FftPlan plan(c.shape, log);
    std::vector<float> z(static_cast<size_t>(plan.tile_floats()));
    const FftTile tile = plan.Tile(z.data());
    ASSERT_EQ(tile.frequencies, plan.frequencies());
    std::vector<int> seen(z.size());
    for (int64_t i = 0; i < tile.frequencies; ++i) {
      const int32_t index = tile.pairs[2 * i], mirror = tile.pairs[2 * i + 1];
      ++seen.at(static_cast<size_t>(index));
      if (mirror != index) ++seen.at(static_cast<size_t>(mirror));
    }
    for (int64_t y = 0; y < plan.rows(); ++y)
      for (int64_t x = 0; x < plan.columns(); ++x)
        EXPECT_EQ(seen[static_cast<size_t>(y * tile.row_step + x * 2 * FftSimd().lanes)], 1)
            << c.name << ": " << y << ", " << x;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), plan.rows() * plan.columns()) << c.name;
  }
}

TEST_P(FftLevels, MatchesSumsInDouble) {
  for (const auto& [log, c] : Cases())
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        ASSERT_TRUE(FftSize::Fits(c.shape, log)) << c.name;
        NhwcData d(c.shape);
        ConvolveWith<FftConv>(c.shape, d, extra, threads, log);
        d.Check(c, extra);
      }
}

TEST_P(FftLevels, MatchesSumsInDoubleDepthwise) {
  for (const auto& [log, c] : DepthwiseCases())
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

TEST_P(FftLevels, KeepsGapsBetweenRows) {
  for (const auto& [log, c] : Cases()) CheckRowStride<FftConv>(c.name, c.shape, Operands::kF32, log);
  for (const auto& [log, c] : DepthwiseCases())
    CheckRowStride<FftDepthwise>(c.name, c.shape, Operands::kF32, log);
}

TEST_P(FftLevels, IsTheSameForAnyNumberOfThreads) {
  for (const SizedCase& s : Cases()) CheckThreads<FftConv>(s);
  for (const SizedCase& s : DepthwiseCases()) CheckThreads<FftDepthwise>(s);
}

// docs/reports/accuracy.md states a maximum error for every result: kError * sqrt(number of pixels of the
// tile) * S. S is a sum with one term per input channel. The term is the largest magnitude of the channel in
// the tile, times the square root of the sum of squares of the channel's kernel.
constexpr double kError = 1e-7;
// ErrorBound uses kMinMagnitude in place of smaller magnitudes, except 0.
template <class Work> constexpr double kMinMagnitude = std::is_same_v<Work, FftConv> ? 1e-36 : 0;

class ErrorBound {
 public:
  ErrorBound(const ConvShape& s, int log, const NhwcData& d, double least = 0)
      : s_(s), size_(s, log), tiles_(s, size_), least_(least) {
    for (int64_t tile = 0; tile < tiles_.count; ++tile)
      for (int64_t c = 0; c < s.channels; ++c) largest_.push_back(Largest(d, tile, c));
    for (int64_t i = 0; i < s.maps * s.group_channels(); ++i) {
      double squares = 0;
      for (int64_t tap = 0; tap < s.taps(); ++tap)
        squares += Square(d.w[static_cast<size_t>(i * s.taps() + tap)]);
      norms_.push_back(std::sqrt(squares));
    }
  }
  int64_t TileOf(int64_t pixel) const {
    const int64_t row = pixel / s_.output[2] % s_.output[1] / size_.out_rows(),
                  column = pixel % s_.output[2] / size_.out_columns(), image = pixel / s_.output_size();
    return (image * tiles_.rows + row) * tiles_.columns + column;
  }
  double Of(int64_t pixel, int64_t map) const {
    const int64_t channels = s_.group_channels(), first = map / s_.group_maps() * channels;
    double sum = 0;
    for (int64_t c = 0; c < channels; ++c)
      sum += largest_[static_cast<size_t>(TileOf(pixel) * s_.channels + first + c)] *
             norms_[static_cast<size_t>(map * channels + c)];
    return kError * std::sqrt(static_cast<double>(size_.rows() * size_.columns())) * sum;
  }

 private:
  static double Square(double v) { return v * v; }
  double Largest(const NhwcData& d, int64_t tile, int64_t channel) const {
    const int64_t row = tile / tiles_.columns % tiles_.rows * size_.out_rows() - s_.begin[1],
                  column = tile % tiles_.columns * size_.out_columns() - s_.begin[2];
    double largest = 0;
    for (int64_t y = 0; y < size_.rows(); ++y)
      for (int64_t x = 0; x < size_.columns(); ++x)
        largest = std::max(largest, std::fabs(d.At(s_, tile / (tiles_.rows * tiles_.columns),
                                                   {0, row + y, column + x}, channel)));
    return largest > 0 ? std::max(largest, least_) : 0;
  }
  ConvShape s_;
  FftSize size_;
  FftTiles tiles_;
  double least_;
  std::vector<double> largest_, norms_;
};

template <class Work> void CheckErrorBound(const SizedCase& sized, NhwcData& d) {
  const ConvShape& s = sized.c.shape;
  ConvolveWith<Work>(s, d, false, 3, sized.log);
  const ErrorBound bound(s, sized.log, d, kMinMagnitude<Work>);
  for (int64_t i = 0; i < s.batch * s.output_size() * s.maps; i += 7)
    ASSERT_NEAR(d.y[static_cast<size_t>(i)], d.Sum(s, i / s.maps, i % s.maps),
                bound.Of(i / s.maps, i % s.maps))
        << sized.c.name << ": pixel " << i / s.maps << ", map " << i % s.maps;
}

// kMagnitudes are factors for the images and the kernels of a group. kWeights are additional factors for the
// kernels of an output channel.
constexpr struct {
  float x, w;
} kMagnitudes[] = {{1, 1},          {1e6f, 1},       {1e-6f, 1},     {0, 1},        {1e20f, 1},
                   {3e38f, 1e-30f}, {2e-38f, 1e30f}, {1e36f, 1e-8f}, {1e-36f, 1e5f}};
constexpr int64_t kMagnitudeCount = std::size(kMagnitudes);
constexpr float kWeights[] = {1, 1e-5f, 1e7f};

// Checks the error bound for groups of different magnitudes, whose channels may share a transform. Group g
// has the magnitudes kMagnitudes[(first + g) % kMagnitudeCount]. Images are not negative, because such images
// have the largest spectra.
template <class Work> void CheckMagnitudes(const SizedCase& sized, int64_t first) {
  const ConvShape& s = sized.c.shape;
  NhwcData d(s);
  for (size_t i = 0; i < d.x.size(); ++i) {
    const int64_t group = static_cast<int64_t>(i) % s.channels / s.group_channels();
    d.x[i] = std::fabs(d.x[i]) * kMagnitudes[(first + group) % kMagnitudeCount].x;
  }
  for (size_t i = 0; i < d.w.size(); ++i) {
    const int64_t map = static_cast<int64_t>(i) / (s.group_channels() * s.taps());
    d.w[i] *= kMagnitudes[(first + map / s.group_maps()) % kMagnitudeCount].w * kWeights[map % 3];
  }
  SCOPED_TRACE(testing::Message() << "first magnitude " << first);
  CheckErrorBound<Work>(sized, d);
}

TEST_P(FftLevels, ErrorsAreRelativeToTheGroup) {
  for (const SizedCase& s : DepthwiseCases()) CheckMagnitudes<FftDepthwise>(s, 0);
  for (const SizedCase& s : Cases())
    for (int64_t first = 0; first < kMagnitudeCount; first += s.c.shape.group)
      CheckMagnitudes<FftConv>(s, first);
}

// The error bound also holds for results whose window does not contain the large number. Direct sums would be
// more accurate there.
TEST_P(FftLevels, ALargeNumberAffectsItsTilesOnly) {
  for (const SizedCase& sized : Cases()) {
    NhwcData d(sized.c.shape);
    d.x[d.x.size() / 2] = 1e6f;
    CheckErrorBound<FftConv>(sized, d);
  }
  for (const SizedCase& sized : DepthwiseCases()) {
    NhwcData d(sized.c.shape);
    d.x[d.x.size() / 2] = 1e6f;
    CheckErrorBound<FftDepthwise>(sized, d);
  }
}

// Tiles have 10 x 10 results, so a NaN or infinity in the upper right corner of an image affects only the
// results of the tile in this corner. The NaN or infinity also affects only the output channels of its group.
template <class Work> void CheckNotFinite(const NhwcCase& c, bool in_weights) {
  const ConvShape& s = c.shape;
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    NhwcData d(s);
    const int64_t channel = 2, group = channel / s.group_channels();
    if (in_weights)
      d.w[static_cast<size_t>(group * s.group_maps() * s.group_channels() * s.taps())] = bad;
    else
      d.x[static_cast<size_t>(25 * s.channels + channel)] = bad;  // the upper right corner of the first image
    ConvolveWith<Work>(s, d, false, 3, 4);
    const ErrorBound bound(s, 4, d);
    for (int64_t i = 0; i < s.batch * s.output_size() * s.maps; ++i) {
      const int64_t pixel = i / s.maps, map = i % s.maps;
      const bool seen = in_weights ? map == group * s.group_maps()
                                   : map / s.group_maps() == group && pixel < 10 * 20 && pixel % 20 >= 10;
      const float got = d.y[static_cast<size_t>(i)];
      ASSERT_EQ(std::isfinite(got), !seen) << bad << ": pixel " << pixel << ", map " << map;
      if (seen || i % 7 != 0) continue;
      ASSERT_NEAR(got, d.Sum(s, pixel, map), bound.Of(pixel, map)) << "pixel " << pixel << ", map " << map;
    }
  }
}

TEST_P(FftLevels, NanAndInfinityStayInTheirTileAndGroup) {
  using N = NhwcCase::Numbers;
  const NhwcCase one{"7x7", N{2, 5, 9, 1, {1, 26, 26}, {1, 7, 7}}};
  const NhwcCase groups{"groups", N{2, 9, 36, 3, {1, 26, 26}, {1, 7, 7}}};
  const NhwcCase depthwise{"channels", N{2, 40, 40, 40, {1, 26, 26}, {1, 7, 7}}};
  for (bool in_weights : {false, true}) {
    CheckNotFinite<FftConv>(one, in_weights);
    CheckNotFinite<FftConv>(groups, in_weights);
    CheckNotFinite<FftDepthwise>(depthwise, in_weights);
  }
}

// Prints the table in docs/reports/accuracy.md. It shows the largest error divided by the largest result, and
// the root mean square of the errors divided by that of the results. Errors are differences from sums in
// double.
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
      double largest = 0, squares = 0, worst[2] = {0, 0}, error[2] = {0, 0};
      for (int64_t i = 0; i < s.output_size() * s.maps; ++i) {
        const double sum = fft.Sum(s, i / s.maps, i % s.maps);
        largest = std::max(largest, std::fabs(sum)), squares += sum * sum;
        const float got[2] = {direct.y[static_cast<size_t>(i)], fft.y[static_cast<size_t>(i)]};
        for (int w = 0; w < 2; ++w)
          worst[w] = std::max(worst[w], std::fabs(got[w] - sum)), error[w] += (got[w] - sum) * (got[w] - sum);
      }
      std::printf("| %dx%d, tiles of %d, %d |", kernel, kernel, 1 << log, static_cast<int>(channels));
      for (int w = 0; w < 2; ++w)
        std::printf(" %.1e / %.1e |", worst[w] / largest, std::sqrt(error[w] / squares));
      std::printf("\n");
      EXPECT_LT(worst[1] / largest, 1e-6);
    }
}

}  // namespace
}  // namespace tern::cpu
