#include "kernels/cpu/byte/byte_pool.h"

#include "kernels/cpu/byte/byte_test_support.h"
#include "kernels/cpu/conv/nhwc_cases.h"

namespace tern::cpu {
namespace {

class BytePoolLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, BytePoolLevels, testing::ValuesIn(LevelsHere()));

int MaxOf(const ConvShape& s, DType type, const std::vector<uint8_t>& x, int64_t pixel, int64_t channel) {
  int y = type == DType::kI8 ? -128 : 0;
  const Spatial o{pixel / (s.output[2] * s.output[1]) % s.output[0], pixel / s.output[2] % s.output[1],
                  pixel % s.output[2]};
  for (int64_t tap = 0; tap < s.taps(); ++tap) {
    const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
    Spatial at;
    bool inside = true;
    for (size_t i = 0; i < 3; ++i) {
      at[i] = o[i] * s.stride[i] + t[i] * s.dilation[i] - s.begin[i];
      inside = inside && at[i] >= 0 && at[i] < s.input[i];
    }
    const int64_t from =
        ((pixel / s.output_size() * s.input[0] + at[0]) * s.input[1] + at[1]) * s.input[2] + at[2];
    if (inside) y = std::max(y, NumberOf(type, x[static_cast<size_t>(from * s.channels + channel)]));
  }
  return y;
}

TEST_P(BytePoolLevels, MaximaMatchPlainLoops) {
  for (const NhwcCase& c : NhwcCases())
    for (DType type : {DType::kU8, DType::kI8})
      for (int64_t gap : {0, 3}) {
        const ConvShape& s = c.shape;
        const auto x = RandomBytes(s.batch * s.input_size() * s.channels, 1);
        const int64_t pixels = s.batch * s.output_size(), row = s.channels + gap;
        std::vector<uint8_t> y(static_cast<size_t>(pixels * row), 77);
        NhwcByteMaxPool(s, type, x.data(), y.data(), Workers(gap ? 2 : 1), gap ? row : 0);
        for (int64_t i = 0; i < pixels * row; ++i) {
          const int want = i % row < s.channels ? MaxOf(s, type, x, i / row, i % row) : NumberOf(type, 77);
          ASSERT_EQ(NumberOf(type, y[static_cast<size_t>(i)]), want) << c.name << " at " << i;
        }
      }
}

TEST_P(BytePoolLevels, MeansMatchPlainLoops) {
  for (int64_t channels : {1, 17, 64, 100, 600})
    for (int64_t pixels : {1, 3, 4, 49})
      for (DType type : {DType::kU8, DType::kI8}) {
        const int64_t images = 2;
        const auto x = RandomBytes(images * pixels * channels, 3);
        const float zero = type == DType::kI8 ? -7.f : 120.f, multiplier = 0.9f / static_cast<float>(pixels);
        const ByteRange to = FullRange(type, 3);
        std::vector<uint8_t> y(static_cast<size_t>(images * channels));
        NhwcByteMeans({type, x.data(), zero}, images, pixels, channels, multiplier, to, y.data(), Workers(2));
        for (int64_t i = 0; i < images * channels; ++i) {
          int64_t sum = 0;
          for (int64_t p = 0; p < pixels; ++p)
            sum +=
                NumberOf(type, x[static_cast<size_t>((i / channels * pixels + p) * channels + i % channels)]);
          sum -= static_cast<int64_t>(zero) * pixels;
          ASSERT_EQ(NumberOf(type, y[static_cast<size_t>(i)]),
                    Quantized(static_cast<float>(sum) * multiplier, to));
        }
      }
}

}  // namespace
}  // namespace tern::cpu
