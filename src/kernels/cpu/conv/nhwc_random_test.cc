// Tests channels-last convolutions of random shapes. Scratch memory has exactly the size that Scratch
// returns, so that a sanitizer finds accesses beyond it.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/cpu/conv/nhwc_test_support.h"
#include "kernels/cpu/simd/bf16_test_support.h"

namespace tern::cpu {
namespace {

class NhwcRandom : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NhwcRandom, testing::ValuesIn(LevelsAndBf16Here()));

class Shapes {
 public:
  NhwcCase Next() {
    for (;;) {
      const NhwcCase::Numbers n = Numbers();
      NhwcCase c("", n);
      const ConvShape& s = c.shape;
      bool fits = true;
      for (size_t i = 0; i < 3; ++i) fits = fits && n.input[i] + 2 * n.begin[i] >= s.span(i, 1);
      if (!fits || s.batch * s.output_size() * s.maps * s.taps() * s.group_channels() > kMaxProducts)
        continue;
      c.name = Description(s);
      return c;
    }
  }

 private:
  static constexpr int64_t kMaxProducts = 400'000;

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool OneOf(int64_t count) { return Between(1, count) == 1; }
  NhwcCase::Numbers Numbers() {
    NhwcCase::Numbers n{};
    n.group = OneOf(3) ? Between(1, 6) : 1;
    n.batch = Between(1, 2);
    n.channels = n.group * Between(1, OneOf(2) ? 40 : 6), n.maps = n.group * Between(1, OneOf(2) ? 70 : 6);
    for (size_t i = 0; i < 3; ++i) {
      const bool is_used = i == 2 || (i == 1 ? !OneOf(4) : OneOf(6));
      n.input[i] = is_used ? Between(1, i == 2 ? 40 : 12) : 1, n.kernel[i] = is_used ? Between(1, 4) : 1;
      n.stride[i] = OneOf(2) ? Between(1, 3) : 1, n.dilation[i] = OneOf(3) ? Between(1, 9) : 1;
      n.begin[i] = is_used ? Between(-1, 5) : 0;
    }
    return n;
  }
  static std::string Description(const ConvShape& s) {
    std::string text = std::to_string(s.batch) + " images, " + std::to_string(s.channels) + " channels, " +
                       std::to_string(s.maps) + " maps, " + std::to_string(s.group) + " groups";
    for (const auto& [name, sizes] : {std::pair("input", s.input),
                                      {"kernel", s.kernel},
                                      {"stride", s.stride},
                                      {"dilation", s.dilation},
                                      {"begin", s.begin}})
      text += std::string(", ") + name + " " + std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) +
              "x" + std::to_string(sizes[2]);
    return text;
  }
  std::mt19937 random_{7};
};

void Run(const NhwcConv& conv, const NhwcArgs& args, int threads) {
  std::vector<float> scratch(conv.Scratch(threads) / sizeof(float), std::numeric_limits<float>::quiet_NaN());
  conv.Run(args, scratch.data(), Workers(threads));
}

// With images and results that are bf16 in memory, the result has the same bits as the rounded f32 result.
void CheckBf16Storage(const NhwcCase& c, NhwcConv& conv, NhwcArgs args, NhwcData& d) {
  const std::vector<uint16_t> x = ToBf16(d.x), residual = ToBf16(d.residual);
  d.residual = FromBf16(residual);
  args.tile = d.Tile(c.shape), args.epilogue = nullptr;
  Run(conv, args, 1);
  const std::vector<uint16_t> want = ToBf16(d.y);
  std::vector<uint16_t> y(want.size());
  const NhwcBf16Storage storage{c.shape.group_channels() % 2 == 0, true};
  conv.SetBf16Storage(storage);
  if (storage.x) args.x = AsFloats(x);
  args.y = AsFloats(y), args.tile.residual = AsFloats(residual), args.tile.bf16_residual = true;
  for (int threads : {1, 3}) {
    Run(conv, args, threads);
    ASSERT_EQ(y, want) << c.name << ", " << threads << " threads";
  }
}

void Check(const NhwcCase& c, Operands operands, NhwcWindows windows) {
  SCOPED_TRACE(testing::Message() << (operands == Operands::kF32 ? "f32" : "bf16") << ", windows "
                                  << static_cast<int>(windows));
  NhwcData d(c.shape, operands);
  std::vector<float> packed(static_cast<size_t>(NhwcConv::PackedSize(c.shape, operands)));
  NhwcConv::Pack(c.shape, d.w.data(), packed.data(), Workers(2), operands);
  NhwcConv conv(c.shape, operands, windows);
  const Epilogue epilogue = d.Affine(c.shape);
  const NhwcArgs args{d.x.data(), packed.data(), d.y.data(), d.Tile(c.shape), &epilogue};
  Run(conv, args, 1);
  ASSERT_NO_FATAL_FAILURE(d.Check(c, true));
  const std::vector<float> one = d.y;
  for (int threads : {2, 5}) {
    std::fill(d.y.begin(), d.y.end(), -77.f);
    Run(conv, args, threads);
    ASSERT_EQ(one, d.y) << c.name << ", " << threads << " threads";
  }
  if (operands == Operands::kBf16) CheckBf16Storage(c, conv, args, d);
}

TEST_P(NhwcRandom, MatchesSumsInDouble) {
  Shapes shapes;
  for (int i = 0; i < 120; ++i) {
    const NhwcCase c = shapes.Next();
    for (Operands operands : {Operands::kF32, Operands::kBf16})
      for (NhwcWindows windows : {NhwcWindows::kAny, NhwcWindows::kInPlace, NhwcWindows::kIm2col})
        ASSERT_NO_FATAL_FAILURE(Check(c, operands, windows));
  }
}

}  // namespace
}  // namespace tern::cpu
