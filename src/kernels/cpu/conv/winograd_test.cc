#include "kernels/cpu/conv/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"
#include "kernels/cpu/simd/bf16_test_support.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

constexpr WinogradUnit kUnits[] = {WinogradUnit::kF23, WinogradUnit::kF43, WinogradUnit::kF63,
                                   WinogradUnit::kF25, WinogradUnit::kF45};
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class WinogradLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, WinogradLevels, testing::ValuesIn(LevelsHere()));

struct Geometry {
  int64_t batch, height, width, channels, maps;
  int64_t top, left, bottom, right;  // padding
  int64_t group = 1;
};

// The sizes are smaller and larger than tiles and vectors. They cover partial tiles, several strips, several
// blocks and several passes over channels. If there are several groups, each group has 96 output channels,
// which fill panels of 12 (NEON) and 32 columns.
const Geometry kGeometries[] = {
    {1, 1, 1, 1, 1, 2, 2, 2, 2},        {1, 1, 9, 3, 5, 2, 1, 2, 2},      {2, 5, 5, 16, 16, 0, 0, 0, 0},
    {1, 7, 7, 33, 31, 1, 1, 1, 1},      {1, 13, 6, 17, 70, 2, 0, 1, 3},   {2, 20, 23, 24, 40, 1, 1, 1, 1},
    {1, 6, 70, 4, 33, 2, 2, 2, 2},      {1, 8, 8, 70, 64, 1, 1, 1, 1},    {1, 5, 6, 520, 8, 1, 1, 1, 1},
    {3, 31, 33, 5, 97, 1, 2, 0, 1},     {1, 40, 40, 16, 130, 1, 1, 1, 1}, {1, 9, 10, 24, 288, 1, 1, 1, 1, 3},
    {2, 40, 33, 40, 192, 1, 0, 1, 1, 2}};

ConvShape ShapeOf(const Geometry& g, WinogradUnit unit) {
  const int64_t r = SizeOf(unit).kernel;
  ConvShape s;
  s.batch = g.batch, s.channels = g.channels, s.maps = g.maps, s.group = g.group;
  s.input = {1, g.height, g.width}, s.kernel = {1, r, r}, s.begin = {0, g.top, g.left};
  s.output = {1, g.height + g.top + g.bottom - r + 1, g.width + g.left + g.right - r + 1};
  return s;
}

// Memory that is aligned to cache lines.
class AlignedMemory {
 public:
  explicit AlignedMemory(size_t bytes) : memory_(bytes / sizeof(float) + 32, kNaN) {}
  float* data() {
    return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64);
  }

 private:
  std::vector<float> memory_;
};

struct Case {
  ConvShape s;
  WinogradUnit unit;
  std::vector<float> x, w, bias, residual, y;
  AlignedMemory packed;

  Operands operands;

  Case(const ConvShape& shape, WinogradUnit u, Operands o = Operands::kF32)
      : s(shape),
        unit(u),
        x(Random(s.batch * s.input_size() * s.channels, 1)),
        w(Random(s.maps * s.group_channels() * s.taps(), 2)),
        bias(Random(s.maps, 3)),
        residual(Random(s.batch * s.output_size() * s.maps, 4)),
        y(residual.size(), kNaN),
        packed(static_cast<size_t>(WinogradWeightsSize(unit, s.group_channels(), s.maps, o)) * sizeof(float)),
        operands(o) {
    PackWinogradWeights(unit, w.data(), s.group_channels(), s.maps, packed.data(), Workers(2), operands);
  }
  NhwcArgs Args() { return {x.data(), packed.data(), y.data(), {}, nullptr}; }
  void Run(const NhwcArgs& args, int threads, bool bf16_y = false, bool pool = false) {
    Winograd winograd(s, unit, operands);
    if (bf16_y) winograd.SetBf16Storage({false, true});
    winograd.SetPool(pool);
    AlignedMemory scratch(winograd.Scratch(threads));
    winograd.Run(args, scratch.data(), Workers(threads));
  }
};

// Computes the result at y[at] by direct summation in T.
template <class T> T Direct(const Case& t, int64_t at) {
  const ConvShape& s = t.s;
  const int64_t map = at % s.maps, pixel = at / s.maps, image = pixel / s.output_size();
  const int64_t y = pixel % s.output_size() / s.output[2], x = pixel % s.output[2], r = s.kernel[1];
  T sum = 0;
  for (int64_t i = 0; i < r * r; ++i) {
    const int64_t row = y + i / r - s.begin[1], column = x + i % r - s.begin[2];
    if (row < 0 || column < 0 || row >= s.input[1] || column >= s.input[2]) continue;
    const int64_t channels = s.group_channels();
    const float* from = t.x.data() + ((image * s.input[1] + row) * s.input[2] + column) * s.channels +
                        map / s.group_maps() * channels;
    const float* w = t.w.data() + map * channels * r * r + i;
    for (int64_t c = 0; c < channels; ++c) sum += T{from[c]} * w[c * r * r];
  }
  return sum;
}

TEST_P(WinogradLevels, MatchesSumsInDouble) {
  for (WinogradUnit unit : kUnits)
    for (const Geometry& g : kGeometries) {
      const ConvShape s = ShapeOf(g, unit);
      if (s.output[1] < 1 || s.output[2] < 1) continue;
      Case t(s, unit);
      NhwcArgs args = t.Args();
      args.tile = {t.bias.data(), t.residual.data(), s.maps, true, -2.0f, 3.0f};
      t.Run(args, 1);
      const double largest = std::sqrt(static_cast<double>(s.taps() * s.channels));  // estimated largest sum
      for (size_t i = 0; i < t.y.size(); ++i) {
        const double sum = Direct<double>(t, static_cast<int64_t>(i));
        const double want =
            std::clamp(sum + t.bias[i % static_cast<size_t>(s.maps)] + t.residual[i], -2.0, 3.0);
        ASSERT_NEAR(t.y[i], want, 4 * WinogradError(unit) * largest + 1e-6)
            << "unit " << static_cast<int>(unit) << ", " << g.height << "x" << g.width << "x" << g.channels
            << " to " << g.maps << ", element " << i;
      }
    }
}

TEST_P(WinogradLevels, IsTheSameForAnyNumberOfThreads) {
  for (WinogradUnit unit : kUnits)
    for (const Geometry& g :
         {Geometry{1, 20, 23, 24, 70, 1, 1, 1, 1}, Geometry{2, 61, 50, 20, 40, 2, 2, 2, 2},
          Geometry{1, 7, 9, 600, 100, 1, 1, 1, 1}}) {
      Case t(ShapeOf(g, unit), unit);
      t.Run(t.Args(), 1);
      const std::vector<float> one = t.y;
      for (int threads : {2, 3, 8}) {
        std::fill(t.y.begin(), t.y.end(), kNaN);
        t.Run(t.Args(), threads);
        ASSERT_EQ(t.y, one) << threads << " threads, unit " << static_cast<int>(unit);
      }
    }
}

// Each product has a relative error of about 2^-8. The errors of a sum partly cancel.
TEST_P(WinogradLevels, RoundedToBf16) {
  for (bool products : {true, false}) {
    LimitBf16Products(products);
    for (const Geometry& g : kGeometries) {
      const ConvShape s = ShapeOf(g, WinogradUnit::kF23);
      if (s.group > 1 && s.group_channels() % 2 != 0) continue;
      Case t(s, WinogradUnit::kF23, Operands::kBf16);
      t.Run(t.Args(), 1);
      // The magnitude of a typical result.
      const double magnitude = std::sqrt(static_cast<double>(s.taps() * s.group_channels())) / 3;
      double squares = 0;
      for (size_t i = 0; i < t.y.size(); ++i) {
        const double error = t.y[i] - Direct<double>(t, static_cast<int64_t>(i));
        squares += error * error;
        ASSERT_LT(std::abs(error), 0.03 * (1 + magnitude)) << g.height << "x" << g.width << "x" << g.channels;
      }
      ASSERT_LT(std::sqrt(squares / static_cast<double>(t.y.size())), 0.006 * (1 + magnitude));
      const std::vector<float> one = t.y;
      t.Run(t.Args(), 3);
      ASSERT_EQ(t.y, one);
    }
  }
}

// With residuals and results that are bf16 in memory, the result has the same bits as the rounded f32 result.
TEST_P(WinogradLevels, WritesBf16) {
  for (bool products : {true, false})
    for (const Geometry& g : kGeometries)
      for (int threads : {1, 3}) {
        LimitBf16Products(products);
        const ConvShape s = ShapeOf(g, WinogradUnit::kF23);
        if (s.group > 1 && s.group_channels() % 2 != 0) continue;
        Case t(s, WinogradUnit::kF23, Operands::kBf16);
        t.x[0] = kInfinity;
        const std::vector<uint16_t> residual = ToBf16(t.residual);
        t.residual = FromBf16(residual);
        NhwcArgs args = t.Args();
        args.tile = {t.bias.data(), t.residual.data(), s.maps, true, -2.0f, 3.0f};
        t.Run(args, 1);
        std::vector<uint16_t> y(t.y.size());
        args.y = AsFloats(y), args.tile.residual = AsFloats(residual), args.tile.bf16_residual = true;
        t.Run(args, threads, true);
        const std::vector<float> got = FromBf16(y), want = FromBf16(ToBf16(t.y));
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
              << g.height << "x" << g.width << "x" << g.channels << ", " << threads << " threads: " << i;
      }
}

// Computes max pooling 2 x 2. A result is NaN if one of its four elements is NaN.
std::vector<float> Pooled(const ConvShape& s, const std::vector<float>& y) {
  std::vector<float> out;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i + 1 < s.output[1]; i += 2)
      for (int64_t j = 0; j + 1 < s.output[2]; j += 2)
        for (int64_t m = 0; m < s.maps; ++m) {
          float largest = -kInfinity;
          for (int64_t k = 0; k < 4; ++k) {
            const int64_t pixel = (n * s.output[1] + i + k / 2) * s.output[2] + j + k % 2;
            const float v = y[static_cast<size_t>(pixel * s.maps + m)];
            if (std::isnan(v) || v > largest) largest = v;
            if (std::isnan(v)) break;
          }
          out.push_back(largest);
        }
  return out;
}

bool SameNumbers(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float p, float q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

// Fused pooling computes the same numbers as separate pooling of the results, and writes only these numbers.
// The cases cover odd numbers of rows and columns, and bias, residual and clip.
TEST_P(WinogradLevels, PoolsItsResults) {
  for (WinogradUnit unit : kUnits)
    for (const Geometry& g : kGeometries)
      for (bool clip : {true, false}) {
        const ConvShape s = ShapeOf(g, unit);
        if (s.output[1] < 1 || s.output[2] < 1) continue;
        Case t(s, unit);
        t.x[t.x.size() / 2] = clip ? kNaN : kInfinity;
        NhwcArgs args = t.Args();
        args.tile = {t.bias.data(), clip ? t.residual.data() : nullptr, s.maps, clip, -2.0f, 3.0f};
        t.Run(args, 1);
        const std::vector<float> want = Pooled(s, t.y);
        for (int threads : {1, 3}) {
          std::vector<float> y(want.size() + 64, -7);
          args.y = y.data();
          t.Run(args, threads, false, true);
          EXPECT_EQ(std::count(y.end() - 64, y.end(), -7.0f), 64);
          y.resize(want.size());
          ASSERT_TRUE(SameNumbers(y, want)) << "unit " << static_cast<int>(unit) << ", " << g.height << "x"
                                            << g.width << " to " << g.maps << ", " << threads << " threads";
        }
      }
}

TEST_P(WinogradLevels, KeepsGapsBetweenRows) {
  for (WinogradUnit unit : kUnits)
    for (const Geometry& g : kGeometries)
      for (bool pool : {false, true}) {
        const ConvShape s = ShapeOf(g, unit);
        if (s.output[1] < 1 || s.output[2] < 1) continue;
        Case t(s, unit);
        NhwcArgs args = t.Args();
        args.tile.bias = t.bias.data();
        t.Run(args, 1);
        const std::vector<float> want = pool ? Pooled(s, t.y) : t.y;
        for (int threads : {1, 3}) {
          RowStride rows(static_cast<int64_t>(want.size()) / s.maps, s.maps);
          args.y = rows.first(), args.pixel_stride = rows.stride();
          t.Run(args, threads, false, pool);
          ASSERT_EQ(rows.Joined(), want) << "unit " << static_cast<int>(unit) << ", " << g.height << "x"
                                         << g.width << " to " << g.maps << ", " << threads << " threads";
        }
      }
}

TEST_P(WinogradLevels, PoolsInBf16) {
  for (bool products : {true, false})
    for (const Geometry& g : kGeometries) {
      LimitBf16Products(products);
      const ConvShape s = ShapeOf(g, WinogradUnit::kF23);
      if (s.group > 1 && s.group_channels() % 2 != 0) continue;
      Case t(s, WinogradUnit::kF23, Operands::kBf16);
      NhwcArgs args = t.Args();
      args.tile.bias = t.bias.data();
      t.Run(args, 1);
      const std::vector<float> want = Pooled(s, t.y);
      std::vector<float> y(want.size(), kNaN);
      args.y = y.data();
      t.Run(args, 3, false, true);
      ASSERT_EQ(y, want) << g.height << "x" << g.width;
      std::vector<uint16_t> bf16(want.size());
      args.y = AsFloats(bf16);
      t.Run(args, 3, true, true);
      ASSERT_EQ(FromBf16(bf16), FromBf16(ToBf16(want))) << g.height << "x" << g.width;
    }
}

TEST_P(WinogradLevels, EmptyImagesHaveNoResults) {
  for (WinogradUnit unit : kUnits)
    for (const Geometry& g : {Geometry{0, 9, 9, 8, 40, 1, 1, 1, 1}, {1, 0, 9, 8, 40}, {1, 9, 0, 8, 40}})
      for (int threads : {1, 3}) {
        ConvShape s = ShapeOf(g, unit);
        for (int64_t& side : s.output) side = std::max<int64_t>(side, 0);
        Case t(s, unit);
        t.Run(t.Args(), threads);
        EXPECT_TRUE(t.y.empty());
      }
}

TEST_P(WinogradLevels, NanAndInfinityStayInTheirTiles) {
  for (WinogradUnit unit : kUnits)
    for (float bad : {kNaN, kInfinity}) {
      const WinogradSize size = SizeOf(unit);
      Case t(ShapeOf({1, 20, 20, 7, 18, 1, 1, 1, 1}, unit), unit);
      t.Run(t.Args(), 1);
      const std::vector<float> before = t.y;
      const int64_t row = 9, column = 13;
      t.x[static_cast<size_t>((row * 20 + column) * 7 + 3)] = bad;
      NhwcArgs args = t.Args();
      t.Run(args, 1);
      for (int64_t y = 0; y < t.s.output[1]; ++y)
        for (int64_t x = 0; x < t.s.output[2]; ++x)
          for (int64_t m = 0; m < 18; ++m) {
            const auto at = static_cast<size_t>((y * t.s.output[2] + x) * 18 + m);
            // The position of the pixel in the window of result (y, x).
            const int64_t up = row + 1 - y, left = column + 1 - x;
            const int64_t tile_up = row + 1 - y / size.tile * size.tile,
                          tile_left = column + 1 - x / size.tile * size.tile;
            if (up >= 0 && up < size.kernel && left >= 0 && left < size.kernel) {
              ASSERT_FALSE(std::isfinite(t.y[at])) << y << "," << x;
            }
            if (tile_up < 0 || tile_up >= size.side() || tile_left < 0 || tile_left >= size.side()) {
              ASSERT_EQ(t.y[at], before[at]) << y << "," << x;
            }
          }
    }
}

TEST_P(WinogradLevels, NaNPassesTheClip) {
  Case t(ShapeOf({1, 4, 4, 3, 20, 1, 1, 1, 1}, WinogradUnit::kF43), WinogradUnit::kF43);
  t.x[0] = kNaN;
  NhwcArgs args = t.Args();
  args.tile.clip = true, args.tile.low = 0, args.tile.high = 6;
  t.Run(args, 1);
  EXPECT_TRUE(std::isnan(t.y[0]));
}

// The activation is applied exactly once to every element, also if output channels take several passes.
TEST_P(WinogradLevels, AppliesTheEpilogueOnce) {
  for (WinogradUnit unit : {WinogradUnit::kF23, WinogradUnit::kF63}) {
    Case t(ShapeOf({2, 37, 50, 3, 200, 1, 1, 1, 1}, unit), unit);
    t.Run(t.Args(), 1);
    std::vector<float> want = t.y;
    for (float& v : want) v = 2 * v + 1;
    Epilogue epilogue(DType::kF32, {2, t.s.output[1], t.s.output[2], 200});
    epilogue.SetActivation(UnaryKind::kAffine, 2, 1, nullptr, 0);
    for (int threads : {1, 3}) {
      NhwcArgs args = t.Args();
      args.epilogue = &epilogue;
      t.Run(args, threads);
      for (size_t i = 0; i < want.size(); ++i) ASSERT_FLOAT_EQ(t.y[i], want[i]) << i;
    }
  }
}

TEST(Winograd, FitsItsKernelOnly) {
  ConvShape s = ShapeOf({1, 8, 8, 4, 4, 1, 1, 1, 1}, WinogradUnit::kF43);
  EXPECT_TRUE(WinogradFits(s, WinogradUnit::kF43));
  EXPECT_FALSE(WinogradFits(s, WinogradUnit::kF45));
  s.stride[2] = 2;
  EXPECT_FALSE(WinogradFits(s, WinogradUnit::kF43));
  s.stride[2] = 1, s.group = 2;
  EXPECT_FALSE(WinogradFits(s, WinogradUnit::kF43));  // two output channels per group do not fill a panel
  s.maps = 192;
  EXPECT_TRUE(WinogradFits(s, WinogradUnit::kF43));
  s.group = 1, s.dilation[1] = 2;
  EXPECT_FALSE(WinogradFits(s, WinogradUnit::kF43));
}

TEST(Winograd, NothingToDo) {
  for (const Geometry& g : {Geometry{0, 8, 8, 4, 4, 1, 1, 1, 1}, Geometry{1, 2, 8, 4, 4, 0, 0, 0, 0},
                            Geometry{1, 8, 8, 4, 0, 1, 1, 1, 1}}) {
    Case t(ShapeOf(g, WinogradUnit::kF43), WinogradUnit::kF43);
    t.Run(t.Args(), 2);
  }
  Case t(ShapeOf({1, 8, 8, 0, 4, 1, 1, 1, 1}, WinogradUnit::kF43), WinogradUnit::kF43);
  t.Run(t.Args(), 2);
  for (float v : t.y) ASSERT_EQ(v, 0);
}

// Collects the differences between results and sums in double. Print shows the largest error divided by the
// largest result, and the root mean square of the errors divided by that of the results.
struct Errors {
  double largest = 0, error = 0, squares = 0, errors = 0;
  void Add(double got, double want) {
    largest = std::max(largest, std::fabs(want)), error = std::max(error, std::fabs(got - want));
    squares += want * want, errors += (got - want) * (got - want);
  }
  double max() const { return error / largest; }
  double rms() const { return std::sqrt(errors / squares); }
  void Print(const char* name, int64_t channels, bool positive) const {
    std::printf("%-7s %4d channels, %s: max %.1e, rms %.1e\n", name, static_cast<int>(channels),
                positive ? "x >= 0" : "x any ", max(), rms());
  }
};

// Prints the table in docs/reports/accuracy.md and checks that errors are at most WinogradError.
TEST(Winograd, Accuracy) {
  const char* const kNames[] = {"F(2,3)", "F(4,3)", "F(6,3)", "F(2,5)", "F(4,5)"};
  for (bool positive : {false, true})
    for (int64_t channels : {16, 64, 256, 1024})
      for (WinogradUnit unit : kUnits) {
        Case t(ShapeOf({1, 24, 24, channels, 12, 1, 1, 1, 1}, unit), unit);
        if (positive)
          for (float& x : t.x) x = std::max(x, 0.0f);
        t.Run(t.Args(), 1);
        Errors errors, direct;
        for (size_t i = 0; i < t.y.size(); ++i) {
          const double want = Direct<double>(t, static_cast<int64_t>(i));
          errors.Add(t.y[i], want);
          direct.Add(Direct<float>(t, static_cast<int64_t>(i)), want);
        }
        if (SizeOf(unit).tile == 2)
          direct.Print(SizeOf(unit).kernel == 3 ? "3x3" : "5x5", channels, positive);
        errors.Print(kNames[static_cast<int>(unit)], channels, positive);
        EXPECT_LE(errors.rms(), WinogradError(unit));
      }
}

// Prints the table in docs/reports/accuracy.md.
TEST(Winograd, AccuracyInBf16) {
  for (bool positive : {false, true})
    for (int64_t channels : {16, 64, 256, 1024}) {
      Case t(ShapeOf({1, 24, 24, channels, 12, 1, 1, 1, 1}, WinogradUnit::kF23), WinogradUnit::kF23,
             Operands::kBf16);
      if (positive)
        for (float& x : t.x) x = std::max(x, 0.0f);
      t.Run(t.Args(), 1);
      std::vector<float> packed(static_cast<size_t>(NhwcConv::PackedSize(t.s, Operands::kBf16)));
      NhwcConv::Pack(t.s, t.w.data(), packed.data(), Workers(1), Operands::kBf16);
      const NhwcConv conv(t.s, Operands::kBf16);
      std::vector<float> plain(t.y.size()), scratch(conv.Scratch(1) / sizeof(float) + 1);
      conv.Run({t.x.data(), packed.data(), plain.data(), {}, nullptr}, scratch.data(), Workers(1));
      Errors errors, direct;
      for (size_t i = 0; i < t.y.size(); ++i) {
        const double want = Direct<double>(t, static_cast<int64_t>(i));
        errors.Add(t.y[i], want);
        direct.Add(plain[i], want);
      }
      direct.Print("3x3", channels, positive);
      errors.Print("F(2,3)", channels, positive);
      EXPECT_LT(errors.errors, 6 * direct.errors);  // sums of squares
    }
}

}  // namespace
}  // namespace tern::cpu
