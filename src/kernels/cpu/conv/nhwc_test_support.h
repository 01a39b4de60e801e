// Compares channels-last convolutions with sums in double, for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/conv/nhwc_conv.h"
#include "kernels/cpu/simd/bf16_test_support.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {

struct NhwcCase {
  struct Numbers {
    int64_t batch, channels, maps, group;
    Spatial input, kernel, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0};
  };
  std::string name;
  ConvShape shape;

  // `begin` is the padding at both ends of each axis. The output size follows from it.
  NhwcCase(std::string title, const Numbers& n) : name(std::move(title)) {
    shape.batch = n.batch, shape.channels = n.channels, shape.maps = n.maps, shape.group = n.group;
    shape.input = n.input, shape.kernel = n.kernel, shape.stride = n.stride, shape.dilation = n.dilation,
    shape.begin = n.begin;
    for (size_t i = 0; i < 3; ++i)
      shape.output[i] =
          (n.input[i] + 2 * n.begin[i] - n.dilation[i] * (n.kernel[i] - 1) - 1) / n.stride[i] + 1;
  }
};

// Random operands of a convolution, and its result. With bf16 operands, the constructor rounds the weights,
// and the convolution rounds images.
struct NhwcData {
  std::vector<float> x, w, bias, residual, y;
  Operands operands;  // expected sums are those of operands rounded to this type

  explicit NhwcData(const ConvShape& s, Operands rounded = Operands::kF32)
      : x(Random(s.batch * s.input_size() * s.channels, 1)),
        w(Random(s.maps * s.group_channels() * s.taps(), 2)),
        bias(Random(s.maps, 3)),
        residual(Random(s.batch * s.output_size() * s.maps, 4)),
        y(residual.size(), -77.f),
        operands(rounded) {
    for (float& v : w) v = Rounded(v);
  }

  TileEpilogue Tile(const ConvShape& s) const {
    return {bias.data(), residual.data(), s.maps, true, -1.5f, 2.0f};
  }
  // Computes y / 2 + 3, which shows whether the epilogue is applied to each element exactly once.
  static Epilogue Affine(const ConvShape& s) {
    Epilogue e(DType::kF32, {s.batch, s.output[0], s.output[1], s.output[2], s.maps});
    e.SetActivation(UnaryKind::kAffine, 0.5f, 3.0f, nullptr, 0);
    return e;
  }

  // Returns an element of the image, or zero outside the image.
  double At(const ConvShape& s, int64_t image, const Spatial& at, int64_t channel) const {
    for (size_t i = 0; i < 3; ++i)
      if (at[i] < 0 || at[i] >= s.input[i]) return 0;
    const int64_t pixel = ((image * s.input[0] + at[0]) * s.input[1] + at[1]) * s.input[2] + at[2];
    return Rounded(x[static_cast<size_t>(pixel * s.channels + channel)]);
  }
  double Sum(const ConvShape& s, int64_t pixel, int64_t map) const {
    const int64_t group = map / s.group_maps();
    const Spatial o{pixel / (s.output[2] * s.output[1]) % s.output[0], pixel / s.output[2] % s.output[1],
                    pixel % s.output[2]};
    double sum = 0;
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
      Spatial at;
      for (size_t i = 0; i < 3; ++i) at[i] = o[i] * s.stride[i] + t[i] * s.dilation[i] - s.begin[i];
      for (int64_t c = 0; c < s.group_channels(); ++c)
        sum += At(s, pixel / s.output_size(), at, group * s.group_channels() + c) *
               w[static_cast<size_t>((map * s.group_channels() + c) * s.taps() + tap)];
    }
    return sum;
  }
  // Compares y with sums in double. `extra` means that y was computed with the epilogues Tile and Affine.
  void Check(const NhwcCase& c, bool extra) const {
    const ConvShape& s = c.shape;
    const int64_t pixels = s.batch * s.output_size();
    // Checks all pixels of small results, and every seventh pixel of large results.
    const int64_t step = pixels * s.maps * s.taps() * s.group_channels() > (1 << 22) ? 7 : 1;
    for (int64_t pixel = 0; pixel < pixels; pixel += step)
      for (int64_t map = 0; map < s.maps; ++map) {
        const auto at = static_cast<size_t>(pixel * s.maps + map);
        double want = Sum(s, pixel, map);
        if (extra)
          want = 0.5 * std::clamp(want + bias[static_cast<size_t>(map)] + residual[at], -1.5, 2.0) + 3;
        ASSERT_NEAR(y[at], want, 2e-5 * (1 + std::sqrt(double(s.taps() * s.group_channels()))))
            << c.name << (extra ? ", with epilogue" : "") << ": pixel " << pixel << ", map " << map;
      }
  }

 private:
  float Rounded(float v) const { return operands == Operands::kF32 ? v : RoundedToBf16(v); }
};

// A buffer for rows of results with gaps between the rows. The gaps must not be written.
class RowStride {
 public:
  RowStride(int64_t rows, int64_t row)
      : row_(static_cast<size_t>(row)), values_(static_cast<size_t>(rows * stride() + kFirst), kOther) {}
  float* first() { return values_.data() + kFirst; }
  int64_t stride() const { return static_cast<int64_t>(row_) + 5; }
  // Returns the rows without gaps. Checks that the gaps have not changed.
  std::vector<float> Joined() const {
    std::vector<float> rows;
    for (size_t i = 0; i < values_.size(); ++i) {
      const size_t at = (i + static_cast<size_t>(stride()) - kFirst) % static_cast<size_t>(stride());
      if (i >= kFirst && at < row_)
        rows.push_back(values_[i]);
      else
        EXPECT_EQ(values_[i], kOther) << "element " << i << " beside rows of " << row_;
    }
    return rows;
  }

 private:
  static constexpr size_t kFirst = 3;
  static constexpr float kOther = -78;
  size_t row_;
  std::vector<float> values_;
};

// Packs weights, prepares and runs a convolution. Work is NhwcConv or a class with the same interface. `how`
// are the additional arguments of its constructor and its packing functions.
template <class Work, class... How>
void ConvolveWith(const ConvShape& shape, NhwcData& d, bool extra, int threads, How... how) {
  std::vector<float> packed(static_cast<size_t>(Work::PackedSize(shape, how...)) + 1);
  Work::Pack(shape, d.w.data(), packed.data(), Workers(2), how...);
  const Work work(shape, how...);
  std::vector<float> scratch(work.Scratch(threads) / sizeof(float) + 1,
                             std::numeric_limits<float>::quiet_NaN());
  NhwcArgs args{d.x.data(), packed.data(), d.y.data(), {}, nullptr};
  const Epilogue epilogue = d.Affine(shape);
  if (extra) args.tile = d.Tile(shape), args.epilogue = &epilogue;
  work.Run(args, scratch.data(), Workers(threads));
}

// Checks that gaps between the rows of y do not change results.
template <class Work, class... How>
void CheckRowStride(const std::string& name, const ConvShape& shape, Operands operands, How... how) {
  NhwcData d(shape, operands);
  std::vector<float> packed(static_cast<size_t>(Work::PackedSize(shape, how...)) + 1);
  Work::Pack(shape, d.w.data(), packed.data(), Workers(2), how...);
  const Work work(shape, how...);
  for (int threads : {1, 3}) {
    std::vector<double> scratch(work.Scratch(threads) / sizeof(double) + 1);
    NhwcArgs args{d.x.data(), packed.data(), d.y.data(), d.Tile(shape), nullptr};
    args.tile.residual = nullptr;
    work.Run(args, scratch.data(), Workers(threads));
    RowStride rows(shape.batch * shape.output_size(), shape.maps);
    args.y = rows.first(), args.pixel_stride = rows.stride();
    work.Run(args, scratch.data(), Workers(threads));
    ASSERT_EQ(rows.Joined(), d.y) << name << ", " << threads << " threads";
  }
}

}  // namespace tern::cpu
