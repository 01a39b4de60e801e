#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/simd/bf16_test_support.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class Bf16Levels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, Bf16Levels, testing::ValuesIn(LevelsAndBf16Here()));

struct Shape {
  int64_t m, n, k;
};
// The shapes have odd and even k, and sizes around the tiles of every instruction set. Several need more than
// one pass over k.
constexpr int64_t kDepth = 2 * kMaxPanelDepth;
const Shape kShapes[] = {{1, 1, 1},
                         {1, 33, 5},
                         {2, 31, 9},
                         {3, 64, 17},
                         {4, 8, 2},
                         {6, 16, 32},
                         {7, 17, 40},
                         {13, 15, 64},
                         {15, 33, 129},
                         {29, 100, 70},
                         {5, 3, 0},
                         {0, 4, 4},
                         {4, 0, 4},
                         {20, 48, kDepth},
                         {9, 24, kDepth + 1},
                         {40, 70, kDepth + 53},
                         {3, 40, kDepth + 200}};

enum class Order { kPlain, kLeftTransposed, kRightTransposed, kStrided };

struct Case {
  Shape s;
  Order order;
  PanelSource source;
  int64_t a_row, a_column, c_row;
  std::vector<float> a, b, bias, residual, panels, c;

  Case(const Shape& shape, Order o, int64_t gap)
      : s(shape),
        order(o),
        a_row(o == Order::kLeftTransposed ? 1 : s.k + gap),
        a_column(o == Order::kLeftTransposed ? s.m + gap : 1),
        c_row(s.n + gap),
        a(Random((s.m + gap) * (s.k + gap) + 1, 1)),
        b(Random(3 * s.k * s.n + 1, 2)),
        bias(Random(s.n + 1, 3)),
        residual(Random(s.m * c_row + 1, 4)),
        panels(static_cast<size_t>(PanelsSize(s.k, s.n, Operands::kBf16)) + 1,
               std::numeric_limits<float>::quiet_NaN()),
        c(Random(s.m * c_row + 1, 5)) {
    for (float& v : b) v = RoundedToBf16(v);  // rounding of weights has its own tests below
    source = {b.data(), s.n, 1, 0.5f};
    if (o == Order::kRightTransposed) source.row = 1, source.column = s.k;
    if (o == Order::kStrided) source.row = 3 * s.n, source.column = 3;
    PackPanels(source, s.k, s.n, panels.data(), Workers(2), Operands::kBf16);
  }
  PanelProduct Product() {
    PanelProduct p;
    p.operands = Operands::kBf16;
    p.m = s.m, p.n = s.n, p.k = s.k;
    p.a = a.data(), p.a_row = a_row, p.a_column = a_column;
    p.panels = panels.data();
    p.c = c.data(), p.c_row = c_row;
    return p;
  }
  // Products of two bf16 are exact in f32, so results differ only by the order of additions. Sets `magnitude`
  // to the sum of the absolute products.
  double Sum(int64_t i, int64_t j, double& magnitude) const {
    double sum = 0;
    magnitude = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      const double product = double{RoundedToBf16(a[static_cast<size_t>(i * a_row + k * a_column)])} *
                             (0.5f * b[static_cast<size_t>(k * source.row + j * source.column)]);
      sum += product;
      magnitude += std::abs(product);
    }
    return sum;
  }
};

void Multiply(const PanelProduct& p, int threads) {
  std::vector<float> scratch(PanelScratch(p, threads) / sizeof(float) + 1,
                             std::numeric_limits<float>::quiet_NaN());
  MultiplyPanels(p, scratch.data(), Workers(threads));
}

TEST_P(Bf16Levels, MatchesSumsOfRoundedOperands) {
  for (const Shape& s : kShapes)
    for (Order order : {Order::kPlain, Order::kLeftTransposed, Order::kRightTransposed, Order::kStrided})
      for (int threads : {1, 3}) {
        Case t(s, order, 3);
        const std::vector<float> before = t.c;
        PanelProduct p = t.Product();
        p.tile = {t.bias.data(), t.residual.data(), t.c_row, true, -0.5f, 2.0f};
        Multiply(p, threads);
        for (int64_t i = 0; i < s.m; ++i)
          for (int64_t j = 0; j < t.c_row; ++j) {
            const auto at = static_cast<size_t>(i * t.c_row + j);
            if (j >= s.n) {
              ASSERT_EQ(t.c[at], before[at]) << "the gap behind row " << i << " was written";
              continue;
            }
            double magnitude = 0;
            const double want = std::clamp(
                t.Sum(i, j, magnitude) + t.bias[static_cast<size_t>(j)] + t.residual[at], -0.5, 2.0);
            ASSERT_NEAR(t.c[at], want, 2e-7 * (2 + magnitude) * (1 + std::sqrt(double(s.k)) / 8))
                << s.m << "x" << s.n << "x" << s.k << " at " << i << "," << j;
          }
      }
}

TEST_P(Bf16Levels, Accumulates) {
  for (const int64_t k : {int64_t{61}, 2 * kDepth + 9}) {
    Case t({20, 40, k}, Order::kPlain, 0);
    const std::vector<float> before = t.c;
    PanelProduct p = t.Product();
    p.accumulate = true;
    p.tile.residual = t.residual.data(), p.tile.residual_row = t.c_row;
    Multiply(p, 1);
    for (int64_t i = 0; i < 20; ++i)
      for (int64_t j = 0; j < 40; ++j) {
        const auto at = static_cast<size_t>(i * 40 + j);
        double magnitude = 0;
        ASSERT_NEAR(t.c[at], before[at] + t.Sum(i, j, magnitude) + t.residual[at], 3e-4) << k;
      }
  }
}

TEST_P(Bf16Levels, IsTheSameForAnyNumberOfThreads) {
  for (const Shape& s : {Shape{200, 96, kDepth + 13}, Shape{17, 500, 64}, Shape{1, 1000, 300}}) {
    Case one(s, Order::kPlain, 0), many(s, Order::kPlain, 0);
    Multiply(one.Product(), 1);
    for (int threads : {2, 5}) {
      Multiply(many.Product(), threads);
      ASSERT_EQ(one.c, many.c) << threads << " threads";
    }
  }
}

// If a, the residual and c are bf16 in memory, the result has the same bits as the rounded f32 result. The
// exception is a long k, which takes one pass if c is bf16 and several passes otherwise.
TEST_P(Bf16Levels, ReadsAndWritesBf16) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  shapes.insert(shapes.end(),
                {{30, 96, kDepth}, {19, 40, 2 * kDepth}, {100, 24, 512}, {33, 50, 128}, {16, 7, 66}});
  for (const Shape& s : shapes)
    for (int gap : {0, 4})
      for (int threads : {1, 3}) {
        if (s.k % 2 != 0) continue;
        Case t(s, Order::kPlain, gap);
        if (s.m > 12 && s.k > 8) t.a[static_cast<size_t>(3 * t.a_row + 1)] = nan;
        if (s.m > 12 && s.k > 8) t.a[static_cast<size_t>(11 * t.a_row + 6)] = inf;
        const std::vector<uint16_t> a = ToBf16(t.a), residual = ToBf16(t.residual);
        t.residual = FromBf16(residual);
        std::vector<uint16_t> c(t.c.size(), 0x1234);
        PanelProduct p = t.Product();
        p.tile = {t.bias.data(), t.residual.data(), t.c_row, true, -0.5f, 2.0f};
        Multiply(p, 1);
        p.a = AsFloats(a), p.bf16_a = true, p.c = AsFloats(c), p.bf16_c = true;
        p.tile.residual = AsFloats(residual), p.tile.bf16_residual = true;
        Multiply(p, threads);
        const std::vector<uint16_t> rounded = ToBf16(t.c);
        const std::vector<float> got = FromBf16(c);
        for (int64_t i = 0; i < s.m * t.c_row; ++i) {
          const auto at = static_cast<size_t>(i);
          if (i % t.c_row >= s.n)
            ASSERT_EQ(c[at], 0x1234) << "the gap was written";
          else if (std::isnan(t.c[at]))
            ASSERT_TRUE(std::isnan(got[at])) << s.m << "x" << s.n << "x" << s.k << " at " << i;
          else if (s.k <= kDepth)
            ASSERT_EQ(c[at], rounded[at]) << s.m << "x" << s.n << "x" << s.k << " at " << i;
          else
            ASSERT_NEAR(got[at], t.c[at], 0.01) << s.m << "x" << s.n << "x" << s.k << " at " << i;
        }
        p.c = t.c.data(), p.bf16_c = false;  // a in bf16, c in f32
        std::vector<float> before = t.c;
        Multiply(p, threads);
        for (size_t i = 0; i < before.size(); ++i)
          ASSERT_TRUE(t.c[i] == before[i] || (std::isnan(t.c[i]) && std::isnan(before[i])))
              << s.m << "x" << s.n << "x" << s.k;
      }
}

// Packs one column of weights and reads it back by products with unit vectors.
std::vector<float> Packed(const std::vector<float>& b) {
  const auto k = static_cast<int64_t>(b.size());
  std::vector<float> panels(static_cast<size_t>(PanelsSize(k, 1, Operands::kBf16))), got(b.size());
  PackPanels({b.data(), 1, 1, 1.0f}, k, 1, panels.data(), Workers(1), Operands::kBf16);
  for (int64_t i = 0; i < k; ++i) {
    std::vector<float> one(b.size());
    one[static_cast<size_t>(i)] = 1;
    PanelProduct p;
    p.operands = Operands::kBf16;
    p.m = p.n = 1, p.k = k;
    p.a = one.data(), p.a_row = k, p.panels = panels.data(), p.c = &got[static_cast<size_t>(i)], p.c_row = 1;
    Multiply(p, 1);
  }
  return got;
}

// Each weight becomes one of its two bf16 neighbours, nearly always the nearest one. The sum of each column
// changes by less than 1e-3.
TEST_P(Bf16Levels, KeepsTheSumOfWeights) {
  for (int64_t k : {16, 64, 65, 400}) {
    const std::vector<float> b = Random(k, 9);
    const std::vector<float> got = Packed(b);
    double off = 0, errors = 0, plain_off = 0, plain = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      const double error = double{got[i]} - b[i], nearest = double{RoundedToBf16(b[i])} - b[i];
      ASSERT_LT(std::abs(error), std::abs(b[i]) / 128) << "not a neighbour of " << b[i];
      off += error, errors += error * error;
      plain_off += nearest, plain += nearest * nearest;
    }
    EXPECT_LT(std::abs(off), 1e-3) << k << "; to nearest: " << plain_off;
    EXPECT_LT(errors, 1.2 * plain) << k;
  }
}

TEST_P(Bf16Levels, WeightsThatAreNotFiniteStay) {
  std::vector<float> b = Random(40, 9);
  b[3] = std::numeric_limits<float>::infinity(), b[7] = std::numeric_limits<float>::quiet_NaN();
  PanelProduct p;
  std::vector<float> panels(static_cast<size_t>(PanelsSize(40, 1, Operands::kBf16)));
  PackPanels({b.data(), 1, 1, 1.0f}, 40, 1, panels.data(), Workers(1), Operands::kBf16);
  std::vector<float> a(40);
  p.operands = Operands::kBf16;
  p.m = p.n = 1, p.k = 40, p.a_row = 40, p.panels = panels.data(), p.c_row = 1;
  float c = 0;
  p.a = a.data(), p.c = &c;
  Multiply(p, 1);
  EXPECT_TRUE(std::isnan(c));  // 0 times infinity
}

// Ties round to even; NaN and infinity are preserved, in both operands.
TEST_P(Bf16Levels, RoundsToNearestEven) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float tie = 1.0f / 256;  // half a unit in the last place of 1
  const std::vector<float> from{1 + tie, 1 + 3 * tie, -1 - tie, 1 + 1.01f * tie, inf, -inf, nan, 3e38f};
  const std::vector<float> want{1, 1 + 4 * tie, -1, 1 + 2 * tie, inf, -inf, nan, RoundedToBf16(3e38f)};
  for (size_t i = 0; i < from.size(); ++i)
    for (bool left : {true, false}) {
      const float one = 1;
      float c = 0;
      std::vector<float> panels(static_cast<size_t>(PanelsSize(1, 1, Operands::kBf16)));
      PackPanels({left ? &one : &from[i], 1, 1, 1.0f}, 1, 1, panels.data(), Workers(1), Operands::kBf16);
      PanelProduct p;
      p.operands = Operands::kBf16;
      p.m = p.n = p.k = 1;
      p.a = left ? &from[i] : &one, p.a_row = 1, p.panels = panels.data(), p.c = &c, p.c_row = 1;
      Multiply(p, 1);
      if (std::isnan(want[i]))
        EXPECT_TRUE(std::isnan(c));
      else
        EXPECT_EQ(c, want[i]) << "of " << from[i] << (left ? " on the left" : " on the right");
    }
}

}  // namespace
}  // namespace tern::cpu
