#include "kernels/cpu/conv/nhwc_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/conv/nhwc_cases.h"
#include "kernels/cpu/conv/nhwc_test_support.h"
#include "kernels/cpu/simd/bf16_test_support.h"

namespace tern::cpu {
namespace {

const std::vector<NhwcCase> kCases = NhwcCases();

constexpr NhwcWindows kWindows[] = {NhwcWindows::kAny, NhwcWindows::kInPlace, NhwcWindows::kIm2col};

// The functions that pack weights ignore NhwcWindows, because packed weights do not depend on how windows are
// read.
class Windows : public NhwcConv {
 public:
  using NhwcConv::NhwcConv;
  static int64_t PackedSize(const ConvShape& s, Operands operands, NhwcWindows) {
    return NhwcConv::PackedSize(s, operands);
  }
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers, Operands operands,
                   NhwcWindows) {
    NhwcConv::Pack(s, w, to, workers, operands);
  }
};

void Convolve(const NhwcCase& c, NhwcData& d, bool extra, int threads,
              NhwcWindows windows = NhwcWindows::kAny) {
  ConvolveWith<Windows>(c.shape, d, extra, threads, d.operands, windows);
}

std::string Description(NhwcWindows windows) {
  return "windows " + std::to_string(static_cast<int>(windows));
}

class NhwcConvLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcConvLevels, testing::ValuesIn(LevelsHere()));

TEST_P(NhwcConvLevels, MatchesSumsInDouble) {
  for (const NhwcCase& c : kCases)
    for (NhwcWindows windows : kWindows)
      for (bool extra : {false, true}) {
        SCOPED_TRACE(Description(windows));
        NhwcData d(c.shape);
        Convolve(c, d, extra, extra ? 3 : 1, windows);
        d.Check(c, extra);
      }
}

TEST_P(NhwcConvLevels, IsTheSameForAnyNumberOfThreads) {
  for (const NhwcCase& c : kCases)
    for (NhwcWindows windows : kWindows) {
      NhwcData one(c.shape), many(c.shape);
      Convolve(c, one, true, 1, windows);
      for (int threads : {2, 5}) {
        Convolve(c, many, true, threads, windows);
        ASSERT_EQ(one.y, many.y) << c.name << ", " << threads << " threads, " << Description(windows);
      }
    }
}

TEST_P(NhwcConvLevels, KeepsGapsBetweenRows) {
  for (const NhwcCase& c : kCases)
    for (NhwcWindows windows : kWindows)
      for (Operands operands : {Operands::kF32, Operands::kBf16})
        CheckRowStride<Windows>(c.name + ", " + Description(windows), c.shape, operands, operands, windows);
}

// A model may have dilations of any size. Scratch memory must not grow with the dilation.
TEST_P(NhwcConvLevels, NeedsLittleMemoryForWideDilations) {
  constexpr int64_t kMax = (int64_t{1} << 31) - 1, kFar = int64_t{1} << 40;
  const std::vector<NhwcCase> cases = {
      {"dilation", {1, 4, 8, 1, {1, 20, 40}, {1, 3, 3}, {1, 1, 1}, {1, kMax, kMax}, {0, kMax, kMax}}},
      {"beyond 2^31", {1, 4, 8, 1, {1, 20, 40}, {1, 3, 3}, {1, 1, 1}, {1, kFar, kFar}, {0, kFar, kFar}}},
      {"first layer", {1, 3, 8, 1, {1, 20, 40}, {1, 3, 3}, {1, 1, 2}, {1, kMax, 1}, {0, kMax, 1}}},
      {"stride", {1, 4, 8, 1, {1, 1, 1}, {1, 2, 2}, {1, kMax, 1 << 26}, {1, 1, 1}, {0, kMax, kMax}}},
      {"planes", {1, 4, 8, 1, {2, 20, 40}, {3, 1, 3}, {1, 1, 1}, {kMax, 1, kMax}, {kMax, 0, kMax}}},
  };
  for (const NhwcCase& c : cases)
    for (Operands operands : {Operands::kF32, Operands::kBf16})
      for (NhwcWindows windows : kWindows) {
        SCOPED_TRACE(Description(windows));
        const NhwcConv conv(c.shape, operands, windows);
        ASSERT_LT(conv.Scratch(3), size_t{8} << 20) << c.name;
        NhwcData d(c.shape, operands);
        Convolve(c, d, true, 3, windows);
        d.Check(c, true);
      }
}

TEST_P(NhwcConvLevels, PacksNothingWithoutChannelsOrMaps) {
  ConvShape s;
  s.kernel = {1 << 30, 1 << 30, 1 << 30};
  for (const auto& [channels, maps] : {std::pair(0, 4), std::pair(4, 0)}) {
    s.channels = channels, s.maps = maps;
    EXPECT_EQ(NhwcConv::PackedSize(s), 0);
    NhwcConv::Pack(s, nullptr, nullptr, Workers(1));
    EXPECT_EQ(NhwcConv(s).Scratch(2), size_t{0});
  }
}

class NhwcConvBf16 : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcConvBf16, testing::ValuesIn(LevelsAndBf16Here()));

TEST_P(NhwcConvBf16, MatchesSumsOfRoundedOperands) {
  for (const NhwcCase& c : kCases)
    for (bool extra : {false, true})
      for (int threads : {1, 3}) {
        NhwcData d(c.shape, Operands::kBf16);
        Convolve(c, d, extra, threads);
        d.Check(c, extra);
      }
}

TEST_P(NhwcConvBf16, IsTheSameForAnyNumberOfThreads) {
  for (const NhwcCase& c : kCases) {
    NhwcData one(c.shape, Operands::kBf16), many(c.shape, Operands::kBf16);
    Convolve(c, one, true, 1);
    for (int threads : {2, 5}) {
      Convolve(c, many, true, threads);
      ASSERT_EQ(one.y, many.y) << c.name << ", " << threads << " threads";
    }
  }
}

// With images and results that are bf16 in memory, the result has the same bits as the rounded f32 result,
// for all ways to read windows.
TEST_P(NhwcConvBf16, ReadsAndWritesBf16) {
  for (const NhwcCase& c : kCases)
    for (NhwcWindows windows : kWindows)
      for (int threads : {1, 3}) {
        NhwcData d(c.shape, Operands::kBf16);
        const std::vector<uint16_t> x = ToBf16(d.x), residual = ToBf16(d.residual);
        d.residual = FromBf16(residual);
        std::vector<float> packed(static_cast<size_t>(NhwcConv::PackedSize(c.shape, d.operands)) + 1);
        NhwcConv::Pack(c.shape, d.w.data(), packed.data(), Workers(2), d.operands);
        NhwcConv conv(c.shape, d.operands, windows);
        NhwcArgs args{d.x.data(), packed.data(), d.y.data(), d.Tile(c.shape), nullptr};
        const auto run = [&](int count) {
          std::vector<float> scratch(conv.Scratch(count) / sizeof(float) + 1,
                                     std::numeric_limits<float>::quiet_NaN());
          conv.Run(args, scratch.data(), Workers(count));
        };
        run(1);
        std::vector<uint16_t> y(d.y.size());
        const NhwcBf16Storage storage{c.shape.group_channels() % 2 == 0, true};
        conv.SetBf16Storage(storage);
        if (storage.x) args.x = AsFloats(x);
        args.y = AsFloats(y);
        args.tile.residual = AsFloats(residual), args.tile.bf16_residual = true;
        run(threads);
        ASSERT_EQ(y, ToBf16(d.y)) << c.name << ", " << threads << " threads, " << Description(windows);
      }
}

}  // namespace
}  // namespace tern::cpu
