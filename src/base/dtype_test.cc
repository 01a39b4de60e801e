#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tern {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr DType kSmallFloats[] = {DType::kF16,    DType::kBF16,       DType::kF8E4M3FN, DType::kF8E4M3FNUZ,
                                  DType::kF8E5M2, DType::kF8E5M2FNUZ, DType::kF8E8M0,   DType::kF4E2M1};

double RoundTrip(DType t, double v, bool saturate = true) {
  return DecodeFloat(t, EncodeFloat(t, v, saturate));
}

TEST(DType, EveryBitPatternComesBack) {
  for (DType t : kSmallFloats) {
    for (uint32_t bits = 0; bits < 1u << BitWidth(t); ++bits) {
      const float v = DecodeFloat(t, bits);
      if (std::isnan(v)) {
        EXPECT_TRUE(std::isnan(RoundTrip(t, v))) << DTypeName(t) << " " << bits;
      } else if (std::isinf(v) && BitWidth(t) == 8) {
        EXPECT_EQ(EncodeFloat(t, v, false), bits) << DTypeName(t);
      } else {
        EXPECT_EQ(EncodeFloat(t, v), bits) << DTypeName(t) << " " << v;
      }
    }
  }
}

TEST(DType, NamesComeBack) {
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(ParseDType(DTypeName(t)), t);
  }
  EXPECT_FALSE(ParseDType("f12"));
}

TEST(DType, TiesGoToEven) {
  EXPECT_EQ(RoundTrip(DType::kF16, 2049), 2048);
  EXPECT_EQ(RoundTrip(DType::kF16, 2051), 2052);
  EXPECT_EQ(RoundTrip(DType::kBF16, 257), 256);
  EXPECT_EQ(RoundTrip(DType::kBF16, 259), 260);
  EXPECT_EQ(RoundTrip(DType::kF8E4M3FN, 17), 16);
  EXPECT_EQ(RoundTrip(DType::kF8E4M3FN, 19), 20);
  EXPECT_EQ(RoundTrip(DType::kF8E5M2, 9), 8);
  EXPECT_EQ(RoundTrip(DType::kF8E5M2, 11), 12);
  EXPECT_EQ(RoundTrip(DType::kF4E2M1, 2.5), 2);
  EXPECT_EQ(RoundTrip(DType::kF4E2M1, 3.5), 4);
  EXPECT_EQ(RoundTrip(DType::kF4E2M1, 0.25), 0);
  EXPECT_EQ(RoundTrip(DType::kF4E2M1, 0.75), 1);
}

// EncodeFloat must not convert its argument to float first, because the value would then round twice. Each of
// these values is so close to a tie that float rounds it to the tie, and the tie goes to the other neighbour.
TEST(DType, DoublesRoundOnce) {
  EXPECT_EQ(RoundTrip(DType::kF16, 2051 - 0x1p-40), 2050);
  EXPECT_EQ(RoundTrip(DType::kF16, 2049 + 0x1p-40), 2050);
  EXPECT_EQ(RoundTrip(DType::kBF16, 259 - 0x1p-40), 258);
  EXPECT_EQ(RoundTrip(DType::kBF16, 257 + 0x1p-40), 258);
}

TEST(DType, SubnormalsAreKept) {
  EXPECT_EQ(RoundTrip(DType::kF16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(RoundTrip(DType::kF16, 0x1p-25), 0);
  EXPECT_EQ(RoundTrip(DType::kF16, 0x1.8p-25), 0x1p-24);
  EXPECT_EQ(RoundTrip(DType::kBF16, 0x1p-133), 0x1p-133);
  EXPECT_EQ(RoundTrip(DType::kF8E4M3FN, 0x1p-9), 0x1p-9);
  EXPECT_EQ(RoundTrip(DType::kF8E4M3FNUZ, 0x1p-10), 0x1p-10);
  EXPECT_EQ(RoundTrip(DType::kF8E5M2, 0x1p-16), 0x1p-16);
  EXPECT_EQ(RoundTrip(DType::kF8E5M2FNUZ, 0x1p-17), 0x1p-17);
}

TEST(DType, HalvesOverflowToInfinity) {
  EXPECT_EQ(RoundTrip(DType::kF16, 65504), 65504);
  EXPECT_EQ(RoundTrip(DType::kF16, 65519), 65504);
  EXPECT_EQ(RoundTrip(DType::kF16, 65520), kInf);
  EXPECT_EQ(RoundTrip(DType::kF16, -1e300), -kInf);
  EXPECT_EQ(RoundTrip(DType::kBF16, 3.4e38), kInf);
  EXPECT_EQ(RoundTrip(DType::kBF16, kInf), kInf);
}

TEST(DType, EightBitFloatsSaturateOrNot) {
  struct Row {
    DType type;
    double largest, beyond;  // beyond: the result of an overflow without saturation
  };
  const Row rows[] = {{DType::kF8E4M3FN, 448, kNan},
                      {DType::kF8E4M3FNUZ, 240, kNan},
                      {DType::kF8E5M2, 57344, kInf},
                      {DType::kF8E5M2FNUZ, 57344, kNan}};
  for (const Row& row : rows) {
    for (double v : {1e6, kInf}) {
      EXPECT_EQ(RoundTrip(row.type, v), row.largest) << DTypeName(row.type);
      EXPECT_EQ(RoundTrip(row.type, -v), -row.largest) << DTypeName(row.type);
      const double unsaturated = RoundTrip(row.type, v, false);
      EXPECT_TRUE(unsaturated == row.beyond || (std::isnan(unsaturated) && std::isnan(row.beyond)))
          << DTypeName(row.type) << " " << unsaturated;
    }
    EXPECT_TRUE(std::isnan(RoundTrip(row.type, kNan)));
    EXPECT_EQ(RoundTrip(row.type, row.largest, false), row.largest);
  }
}

TEST(DType, OnlySomeFormatsHaveMinusZero) {
  EXPECT_EQ(EncodeFloat(DType::kF8E4M3FN, -0.0), 0x80u);
  EXPECT_EQ(EncodeFloat(DType::kF8E4M3FNUZ, -0.0), 0u);
  EXPECT_EQ(EncodeFloat(DType::kF8E5M2FNUZ, -1e-30), 0u);
  EXPECT_EQ(EncodeFloat(DType::kF8E4M3FNUZ, kNan), 0x80u);
}

TEST(DType, FourBitsHoldSixAtMostAndNoNan) {
  EXPECT_EQ(RoundTrip(DType::kF4E2M1, 100), 6);
  EXPECT_EQ(RoundTrip(DType::kF4E2M1, -kInf, false), -6);
  EXPECT_EQ(EncodeFloat(DType::kF4E2M1, kNan), 8u);  // minus zero
}

TEST(DType, E8M0HoldsPowersOfTwo) {
  EXPECT_EQ(DecodeFloat(DType::kF8E8M0, 127), 1);
  EXPECT_EQ(DecodeFloat(DType::kF8E8M0, 0), 0x1p-127f);
  EXPECT_EQ(DecodeFloat(DType::kF8E8M0, 254), 0x1p127f);
  EXPECT_TRUE(std::isnan(DecodeFloat(DType::kF8E8M0, 255)));
  EXPECT_EQ(RoundTrip(DType::kF8E8M0, 1.5), 2) << "ties go away from zero";
  EXPECT_EQ(RoundTrip(DType::kF8E8M0, 3), 4) << "ties go away from zero";
  EXPECT_EQ(RoundTrip(DType::kF8E8M0, 3 - 0x1p-40), 2);
  EXPECT_EQ(EncodeFloat(DType::kF8E8M0, kInf), 254u);
  EXPECT_EQ(EncodeFloat(DType::kF8E8M0, kInf, false), 255u);
}

TEST(DType, HalfConversionsAgreeWithTheGeneralOnes) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = static_cast<uint16_t>(bits);
    const float half = HalfToFloat(h), brain = BFloatToFloat(h);
    if (!std::isnan(half)) {
      EXPECT_EQ(FloatToHalf(half), h);
    }
    if (!std::isnan(brain)) {
      EXPECT_EQ(FloatToBFloat(brain), h);
    }
    const float above = std::nextafter(half, 1e9f);
    if (!std::isnan(above)) {
      EXPECT_EQ(FloatToHalf(above), EncodeFloat(DType::kF16, above));
    }
  }
  EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(static_cast<float>(kNan)))));
  EXPECT_TRUE(std::isnan(BFloatToFloat(FloatToBFloat(static_cast<float>(kNan)))));
}

TEST(DType, PackedTypesShareBytes) {
  EXPECT_EQ(BytesOf(DType::kI4, 3), 2u);
  EXPECT_EQ(BytesOf(DType::kU2, 5), 2u);
  EXPECT_EQ(BytesOf(DType::kF4E2M1, 0), 0u);
  EXPECT_EQ(BytesOf(DType::kC128, 2), 32u);
}

}  // namespace
}  // namespace tern
