#include <cmath>
#include <limits>

#include "ops/test_graph.h"

namespace tern {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor Cast(const Tensor& x, DType to, AttrList attrs = {}) {
  attrs.emplace_back("to", to);
  return OutputOf("Cast", {x}, attrs);
}

Tensor Floats(const std::vector<double>& v, DType t = DType::kF32) {
  return Tensor::Of(t, {static_cast<int64_t>(v.size())}, v);
}

std::vector<std::string> Texts(const Tensor& x) { return ToStrings(Cast(x, DType::kString)); }

using Longs = std::vector<int64_t>;
using Strings = std::vector<std::string>;

TEST(Cast, FloatsLoseTheirFraction) {
  EXPECT_EQ(ToLongs(Cast(Floats({2.9, -2.9, -0.5}), DType::kI32)), (Longs{2, -2, 0}));
  EXPECT_EQ(ToLongs(Cast(Floats({255, 3}), DType::kU8)), (Longs{255, 3}));
}

TEST(Cast, IntegersDropHighBits) {
  EXPECT_EQ(ToLongs(Cast(Tensor::Ints({200, -1, 256}), DType::kI8)), (Longs{-56, -1, 0}));
  EXPECT_EQ(ToLongs(Cast(Tensor::Ints({-1, 17}), DType::kU4)), (Longs{15, 1}));
  EXPECT_EQ(ToLongs(Cast(Tensor::Ints({7, 8, -9}), DType::kI4)), (Longs{7, -8, 7}));
  EXPECT_EQ(ToLongs(Cast(Tensor::Ints({1, 2, 3, 4, 5}), DType::kI2)), (Longs{1, -2, -1, 0, 1}));
}

TEST(Cast, FloatsOutsideTheRangeSaturate) {
  for (const DType from : {DType::kF32, DType::kF64}) {
    const Tensor x = Floats({kNan, -3, 0x1p63, 0x1p64, kInf, -0x1p63, -0x1p65, -kInf}, from);
    EXPECT_EQ(ToLongs(Cast(x, DType::kU64)),
              (Longs{0, -3, INT64_MIN, -1, -1, INT64_MIN, INT64_MIN, INT64_MIN}));
    EXPECT_EQ(ToLongs(Cast(x, DType::kI64)),
              (Longs{0, -3, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN}));
    EXPECT_EQ(ToLongs(Cast(x, DType::kU8)), (Longs{0, 253, 255, 255, 255, 0, 0, 0}));
  }
}

TEST(Cast, AnythingButZeroIsTrue) {
  EXPECT_EQ(ToLongs(Cast(Floats({0, -0.0, 0.1, kNan, kInf}), DType::kBool)), (Longs{0, 0, 1, 1, 1}));
  EXPECT_EQ(ToLongs(Cast(Tensor::Ints({0, 256, -1}), DType::kBool)), (Longs{0, 1, 1}));
}

TEST(Cast, LargeIntegersRoundOnce) {
  // Rounding v to f64 first would drop the 1. Then 2^53 + 2^29 would be a tie for f32, which rounds down to
  // 2^53.
  const int64_t v = (int64_t{1} << 53) + (int64_t{1} << 29) + 1;
  EXPECT_EQ(ToDoubles(Cast(Tensor::Ints({v}), DType::kF32))[0], 0x1p53 + 0x1p30);
  Tensor top(DType::kU64, {1});
  top.data<uint64_t>()[0] = ~uint64_t{0};
  EXPECT_EQ(ToDoubles(Cast(top, DType::kF32))[0], 0x1p64);
  EXPECT_EQ(ToDoubles(Cast(top, DType::kF64))[0], 0x1p64);
  EXPECT_EQ(ToLongs(Cast(top, DType::kI64))[0], -1);
}

TEST(Cast, EightBitFloatsFollowSaturate) {
  const Tensor x = Floats({1e6, -kInf, 0.1});
  EXPECT_EQ(ToDoubles(Cast(x, DType::kF8E4M3FN)), (std::vector<double>{448, -448, 0.1015625}));
  const auto unsaturated = ToDoubles(Cast(x, DType::kF8E4M3FN, {{"saturate", false}}));
  EXPECT_TRUE(std::isnan(unsaturated[0]) && std::isnan(unsaturated[1]));
  EXPECT_EQ(ToDoubles(Cast(x, DType::kF8E5M2, {{"saturate", false}}))[0], kInf);
}

TEST(Cast, E8M0FollowsRoundMode) {
  const Tensor x = Floats({1, 1.2, 1.5, 1.7, 3.4e38});
  const auto as = [&](const char* mode) {
    return ToDoubles(Cast(x, DType::kF8E8M0, {{"round_mode", mode}}));
  };
  EXPECT_EQ(as("up"), (std::vector<double>{1, 2, 2, 2, 0x1p127}));
  EXPECT_EQ(as("down"), (std::vector<double>{1, 1, 1, 1, 0x1p127}));
  EXPECT_EQ(as("nearest"), (std::vector<double>{1, 1, 2, 2, 0x1p127}));
  EXPECT_EQ(ToDoubles(Cast(Floats({0}), DType::kF8E8M0))[0], 0x1p-127);
  EXPECT_TRUE(std::isnan(ToDoubles(Cast(Floats({0}), DType::kF8E8M0, {{"saturate", false}}))[0]));
  EXPECT_TRUE(std::isnan(ToDoubles(Cast(Floats({kNan}), DType::kF8E8M0))[0]));
}

TEST(Cast, PrintsAsNumpyDoes) {
  EXPECT_EQ(
      Texts(Floats({1, 0.1, -2.5, 100000, 1e-5, 0.0001, 1e16, kNan, kInf, -kInf, -0.0})),
      (Strings{"1.0", "0.1", "-2.5", "100000.0", "1e-05", "1e-04", "1e+16", "nan", "inf", "-inf", "-0.0"}));
  EXPECT_EQ(Texts(Floats({0.1, 1e15, 123456789.125}, DType::kF64)),
            (Strings{"0.1", "1000000000000000.0", "123456789.125"}));
  EXPECT_EQ(Texts(Floats({0.1, 65504, 1234.5, 1e-4}, DType::kF16)),
            (Strings{"0.1", "6.55e+04", "1.234e+03", "0.0001"}));
  EXPECT_EQ(Texts(Tensor::Ints({-3, 0})), (Strings{"-3", "0"}));
  EXPECT_EQ(Texts(Tensor::Of(DType::kBool, {2}, {1, 0})), (Strings{"True", "False"}));
}

TEST(Cast, ReadsNumbers) {
  const Tensor x = Tensor::Strings({7}, {"3.14", "1e-5", "1E8", "+INF", "-inf", "NaN", " 7 "});
  const auto v = ToDoubles(Cast(x, DType::kF64));
  EXPECT_EQ(v[0], 3.14);
  EXPECT_EQ(v[1], 1e-5);
  EXPECT_EQ(v[2], 1e8);
  EXPECT_EQ(v[3], kInf);
  EXPECT_EQ(v[4], -kInf);
  EXPECT_TRUE(std::isnan(v[5]));
  EXPECT_EQ(v[6], 7);
  EXPECT_EQ(ToDoubles(Cast(Tensor::Strings({2}, {"0.1", "1e99"}), DType::kF32)),
            (std::vector<double>{0.1f, kInf}));
  EXPECT_EQ(ToLongs(Cast(Tensor::Strings({3}, {"100.5", "-7", "+9"}), DType::kI32)), (Longs{100, -7, 9}));
  EXPECT_EQ(ToLongs(Cast(Tensor::Strings({3}, {"True", "0", "2"}), DType::kBool)), (Longs{1, 0, 1}));
}

TEST(Cast, SaysWhichTextIsNoNumber) {
  for (const char* text : {"Hello", "", "1.5x", "--3", "+-1"}) {
    auto result = EvaluateOp("Cast", {Tensor::Strings({2}, {"1", text})}, {{"to", DType::kF32}});
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_NE(result.status().message().find("element 1"), std::string::npos) << result.status().ToString();
  }
}

TEST(Cast, EveryTypePairWorksOnEmptyAndSmall) {
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i)
    for (int j = 1; j < static_cast<int>(DType::kCount); ++j) {
      const auto from = static_cast<DType>(i), to = static_cast<DType>(j);
      if (IsComplex(from) || IsComplex(to)) continue;
      const Tensor one = from == DType::kString ? Tensor::Strings({1}, {"1"}) : Tensor::Of(from, {1}, {1});
      const Tensor y = Cast(one, to);
      ASSERT_EQ(y.dtype(), to);
      EXPECT_EQ(to == DType::kString ? 1 : std::fabs(ToDoubles(y)[0]), 1)
          << DTypeName(from) << " to " << DTypeName(to);
      EXPECT_EQ(Cast(Tensor(from, {0, 3}), to).dims(), (Dims{0, 3}));
    }
}

}  // namespace
}  // namespace tern
