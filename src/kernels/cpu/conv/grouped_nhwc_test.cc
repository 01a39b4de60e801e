#include "kernels/cpu/conv/grouped_nhwc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class GroupedLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, GroupedLevels, testing::ValuesIn(LevelsHere()));

struct Geometry {
  int64_t batch, height, width, channels, group_channels;
  int64_t kernel_rows = 3, stride = 1, row_dilation = 1, top = 1, left = 1, bottom = 1, right = 1;
};

ConvShape ShapeOf(const Geometry& g) {
  ConvShape s;
  s.batch = g.batch, s.channels = s.maps = g.channels, s.group = g.channels / g.group_channels;
  s.input = {1, g.height, g.width}, s.kernel = {1, g.kernel_rows, 3}, s.stride = {1, g.stride, g.stride};
  s.dilation = {1, g.row_dilation, 1}, s.begin = {0, g.top, g.left};
  const auto positions = [&](int64_t size, int64_t reach) {
    return size < reach ? int64_t{0} : (size - reach) / g.stride + 1;
  };
  s.output = {1, positions(g.height + g.top + g.bottom, (g.kernel_rows - 1) * g.row_dilation + 1),
              positions(g.width + g.left + g.right, 3)};
  return s;
}

std::vector<float> Random(std::mt19937& random, int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& v : out) v = number(random);
  return out;
}

double Want(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& w, int64_t at) {
  const int64_t map = at % s.maps, column = at / s.maps % s.output[2],
                row = at / s.maps / s.output[2] % s.output[1], image = at / s.maps / s.output_size();
  double sum = 0;
  for (int64_t c = 0; c < s.group_channels(); ++c)
    for (int64_t i = 0; i < s.kernel[1]; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        const int64_t y = row * s.stride[1] + i * s.dilation[1] - s.begin[1],
                      z = column * s.stride[2] + j - s.begin[2];
        if (y < 0 || y >= s.input[1] || z < 0 || z >= s.input[2]) continue;
        const int64_t channel = map / s.group_maps() * s.group_channels() + c;
        sum +=
            static_cast<double>(
                x[static_cast<size_t>(((image * s.input[1] + y) * s.input[2] + z) * s.channels + channel)]) *
            static_cast<double>(
                w[static_cast<size_t>(((map * s.group_channels() + c) * s.kernel[1] + i) * 3 + j)]);
      }
  return sum;
}

void Check(const Geometry& g, int threads) {
  const ConvShape s = ShapeOf(g);
  if (!NhwcGrouped::Fits(s)) return;  // the groups are larger than a vector of this instruction set
  std::mt19937 random(7);
  const auto x = Random(random, s.batch * s.input_size() * s.channels),
             w = Random(random, s.maps * s.group_channels() * s.taps()), bias = Random(random, s.maps),
             residual = Random(random, s.batch * s.output_size() * s.maps);
  std::vector<float> packed(static_cast<size_t>(NhwcGrouped::PackedSize(s)));
  NhwcGrouped::Pack(s, w.data(), packed.data(), Workers(1));
  const NhwcGrouped conv(s);
  std::vector<float> scratch(conv.Scratch(threads) / sizeof(float) + 1);
  for (int64_t extra : {0, 5}) {  // a gap between pixels of y, which must not be written
    const int64_t pixel = s.maps + extra;
    std::vector<float> y(static_cast<size_t>(s.batch * s.output_size() * pixel), 99.f);
    NhwcArgs args;
    args.x = x.data(), args.w = packed.data(), args.y = y.data();
    args.tile.bias = bias.data();
    if (extra)
      args.pixel_stride = pixel;
    else
      args.tile.residual = residual.data(), args.tile.clip = true, args.tile.low = -1, args.tile.high = 2;
    conv.Run(args, scratch.data(), Workers(threads));
    for (int64_t i = 0; i < s.batch * s.output_size() * s.maps; ++i) {
      const int64_t map = i % s.maps;
      double want = Want(s, x, w, i) + static_cast<double>(bias[static_cast<size_t>(map)]);
      if (!extra) want = std::clamp(want + static_cast<double>(residual[static_cast<size_t>(i)]), -1.0, 2.0);
      ASSERT_NEAR(y[static_cast<size_t>(i / s.maps * pixel + map)], want, 2e-5) << "element " << i;
    }
    for (int64_t i = 0; extra && i < s.batch * s.output_size(); ++i)
      ASSERT_EQ(y[static_cast<size_t>(i * pixel + s.maps)], 99.f);
  }
}

TEST_P(GroupedLevels, MatchesSumsInDouble) {
  for (int64_t size : {4, 8})
    for (int64_t stride : {1, 2})
      for (int64_t groups : {2, 3, 5, 8})
        for (int64_t width : {1, 2, 3, 4, 6, 7, 9, 15, 23})
          for (int threads : {1, 2}) {
            SCOPED_TRACE(testing::Message() << size << " channels of " << groups << " groups, width " << width
                                            << ", stride " << stride << ", " << threads << " threads");
            Check({2, 5, width, groups * size, size, 3, stride}, threads);
          }
}

TEST_P(GroupedLevels, KernelRowsDilationsAndPads) {
  for (int64_t size : {4, 8}) {
    Check({1, 9, 11, 4 * size, size, 5, 1, 2, 3, 0, 1, 2}, 1);
    Check({1, 1, 40, 2 * size, size, 1, 1, 1, 0, 1, 0, 1}, 2);
    Check({1, 40, 60, 3 * size, size, 3, 1, 1, 1, 1, 1, 1}, 2);  // several bands of rows
    Check({3, 8, 8, 4 * size, size, 3, 2, 1, 0, 0, 1, 1}, 2);
    Check({1, 8, 8, 4 * size, size, 3, 1, 1, -1, -2, 1, 3}, 1);  // negative pads crop
    Check({1, 8, 2, 4 * size, size, 3, 1, 1, 1, 0, 1, 0}, 1);    // no output columns
    Check({0, 8, 8, 4 * size, size}, 1);
  }
}

TEST_P(GroupedLevels, FitsSmallEqualGroupsOnly) {
  ConvShape s = ShapeOf({1, 8, 8, 32, 4});
  EXPECT_TRUE(NhwcGrouped::Fits(s));
  s.maps = 64;
  EXPECT_FALSE(NhwcGrouped::Fits(s));
  s = ShapeOf({1, 8, 8, 32, 4});
  s.dilation[2] = 2;
  EXPECT_FALSE(NhwcGrouped::Fits(s));
  s = ShapeOf({1, 8, 8, 32, 4});
  s.dilation[1] = int64_t{1} << 40;  // a job would copy too much
  EXPECT_FALSE(NhwcGrouped::Fits(s));
  s = ShapeOf({1, 8, 8, 30, 6});
  EXPECT_FALSE(NhwcGrouped::Fits(s));
  s = ShapeOf({1, 8, 8, 4, 4});  // one group
  EXPECT_FALSE(NhwcGrouped::Fits(s));
}

}  // namespace
}  // namespace tern::cpu
