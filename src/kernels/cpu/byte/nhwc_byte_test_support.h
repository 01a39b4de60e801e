// Compares 8-bit convolutions with plain loops, for the tests of this folder.
#pragma once
#include "kernels/cpu/byte/byte_test_support.h"
#include "kernels/cpu/byte/nhwc_byte_conv.h"
#include "kernels/cpu/conv/nhwc_cases.h"

namespace tern::cpu {

struct NhwcByteData {
  ConvShape s;
  DType x_type, w_type;
  int x_zero, w_zero;
  std::vector<uint8_t> x, w;
  std::vector<int64_t> sums;  // what kernels compute before the epilogue

  NhwcByteData(const ConvShape& shape, DType x_of, DType w_of)
      : s(shape),
        x_type(x_of),
        w_type(w_of),
        x_zero(x_of == DType::kI8 ? -5 : 131),
        w_zero(w_of == DType::kU8 ? 128 : 0),
        x(RandomBytes(s.batch * s.input_size() * s.channels, 1)),
        w(RandomBytes(s.maps * s.group_channels() * s.taps(), 2)) {
    for (int64_t i = 0; i < s.batch * s.output_size() * s.maps; ++i)
      sums.push_back(Sum(i / s.maps, i % s.maps));
  }

  // Returns an element of the image plus 128 if it is i8, or the zero point outside the image.
  int X(int64_t image, const Spatial& at, int64_t channel) const {
    const int add = x_type == DType::kI8 ? 128 : 0;
    for (size_t i = 0; i < 3; ++i)
      if (at[i] < 0 || at[i] >= s.input[i]) return x_zero + add;
    const int64_t pixel = ((image * s.input[0] + at[0]) * s.input[1] + at[1]) * s.input[2] + at[2];
    return NumberOf(x_type, x[static_cast<size_t>(pixel * s.channels + channel)]) + add;
  }
  int W(int64_t map, int64_t channel, int64_t tap) const {
    const auto at = static_cast<size_t>((map * s.group_channels() + channel) * s.taps() + tap);
    return NumberOf(w_type, w[at]) - w_zero;
  }
  int64_t Sum(int64_t pixel, int64_t map) const {
    const int64_t group = map / s.group_maps();
    const Spatial o{pixel / (s.output[2] * s.output[1]) % s.output[0], pixel / s.output[2] % s.output[1],
                    pixel % s.output[2]};
    int64_t sum = 0;
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
      Spatial at;
      for (size_t i = 0; i < 3; ++i) at[i] = o[i] * s.stride[i] + t[i] * s.dilation[i] - s.begin[i];
      for (int64_t c = 0; c < s.group_channels(); ++c)
        sum += X(pixel / s.output_size(), at, group * s.group_channels() + c) * W(map, c, tap);
    }
    return sum;
  }
};

// Runs a convolution whose pixels of y have `gap` bytes or elements between them. Work is NhwcByteConv or
// NhwcByteDepthwise.
template <class Work>
std::vector<uint8_t> ConvolveBytes(const NhwcByteData& d, const ByteEpilogue& e, int threads,
                                   int64_t gap = 0) {
  const ConvShape& s = d.s;
  const auto zero = static_cast<uint8_t>(d.w_zero);
  const ByteWeights w{d.w.data(), d.w_type, d.w_zero ? &zero : nullptr};
  const auto size = static_cast<size_t>(Work::PackedSize(s));
  std::vector<int8_t> packed(size + 64, 99);
  auto* aligned = reinterpret_cast<int8_t*>((reinterpret_cast<uintptr_t>(packed.data()) + 63) / 64 * 64);
  Work::Pack(s, w, aligned, Workers(2));
  for (int64_t map = 0; map < s.maps; ++map) {
    int32_t sum = 0;
    for (int64_t i = 0; i < s.group_channels() * s.taps(); ++i) sum += d.W(map, i / s.taps(), i % s.taps());
    EXPECT_EQ(WeightSums(aligned)[map], sum);
  }
  const Work work(s, d.x_type);
  const int64_t width = e.output == ByteOutput::kBytes ? 1 : 4;
  std::vector<uint8_t> y(static_cast<size_t>(s.batch * s.output_size() * (s.maps + gap) * width), 77);
  std::vector<uint8_t> scratch(work.Scratch(threads) + 64, 201);
  NhwcByteArgs args;
  args.x = d.x.data(), args.x_zero = d.x_zero, args.w = aligned, args.y = y.data(), args.epilogue = e;
  if (gap) args.pixel_stride = s.maps + gap;
  work.Run(args, reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64),
           Workers(threads));
  return y;
}

template <class Work> void CheckBytes(const NhwcCase& c, DType x, DType w, bool all_epilogues) {
  const NhwcByteData d(c.shape, x, w);
  const ConvShape& s = d.s;
  const int64_t pixels = s.batch * s.output_size();
  std::vector<EpilogueCase> epilogues = Epilogues(pixels, s.maps, s.taps() * s.group_channels());
  if (!all_epilogues) epilogues.erase(epilogues.begin() + 1, epilogues.end());
  for (const EpilogueCase& e : epilogues)
    for (int threads : {1, 2, 3}) {
      const auto got = ConvolveBytes<Work>(d, e.e, threads);
      for (int64_t i = 0; i < pixels * s.maps; ++i)
        ASSERT_EQ(e.At(got, i), e.Expected(d.sums[static_cast<size_t>(i)], i / s.maps, i % s.maps))
            << c.name << ", " << e.name << ", " << threads << " threads, pixel " << i / s.maps << ", map "
            << i % s.maps;
    }
}

// Checks that gaps between the pixels of y are not written.
template <class Work> void CheckByteGaps(const NhwcCase& c) {
  constexpr int64_t kGap = 5;
  const NhwcByteData d(c.shape, DType::kU8, DType::kI8);
  const ConvShape& s = d.s;
  const int64_t pixels = s.batch * s.output_size(), row = s.maps + kGap;
  const std::vector<EpilogueCase> epilogues = Epilogues(pixels, s.maps, s.taps() * s.group_channels());
  const EpilogueCase& e = epilogues[0];
  const auto dense = ConvolveBytes<Work>(d, e.e, 1), got = ConvolveBytes<Work>(d, e.e, 2, kGap);
  for (int64_t i = 0; i < pixels * row; ++i) {
    const int want = i % row < s.maps ? dense[static_cast<size_t>(i / row * s.maps + i % row)] : 77;
    ASSERT_EQ(got[static_cast<size_t>(i)], want) << c.name << " at " << i;
  }
}

}  // namespace tern::cpu
