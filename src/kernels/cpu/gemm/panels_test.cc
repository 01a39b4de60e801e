#include "kernels/cpu/gemm/panels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  int64_t m, n, k;
};

// The sizes are around the tiles of every instruction set. Several need more than one pass over k.
constexpr int64_t kDepth = kMaxPanelDepth;
const Shape kShapes[] = {
    {1, 1, 1},     {1, 33, 5},       {2, 31, 9},    {3, 64, 17},         {4, 8, 3},
    {6, 16, 32},   {7, 17, 40},      {13, 15, 64},  {14, 32, 8},         {15, 33, 129},
    {29, 100, 70}, {64, 48, kDepth}, {5, 3, 0},     {9, 24, kDepth + 1}, {40, 70, 2 * kDepth + 52},
    {0, 4, 4},     {4, 0, 4},        {200, 96, 512}};

class Levels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, Levels, testing::ValuesIn(LevelsHere()));

// A product with its operands. The gaps between rows of c must not be written.
struct Case {
  Shape s;
  int64_t a_row, a_column, c_row;
  std::vector<float> a, b, bias, residual, panels, c;

  Case(const Shape& shape, bool transposed, int64_t gap)
      : s(shape),
        a_row(transposed ? 1 : s.k + gap),
        a_column(transposed ? s.m + gap : 1),
        c_row(s.n + gap),
        a(Random((s.m + gap) * (s.k + gap) + 1, 1)),
        b(Random(s.k * s.n + 1, 2)),
        bias(Random(s.n + 1, 3)),
        residual(Random(s.m * c_row + 1, 4)),
        panels(static_cast<size_t>(PanelsSize(s.k, s.n)) + 1, kNaN),
        c(Random(s.m * c_row + 1, 5)) {
    PackPanels({b.data(), s.n, 1, 1.0f}, s.k, s.n, panels.data(), Workers(2));
  }
  PanelProduct Product() {
    PanelProduct p;
    p.m = s.m, p.n = s.n, p.k = s.k;
    p.a = a.data(), p.a_row = a_row, p.a_column = a_column;
    p.panels = panels.data();
    p.c = c.data(), p.c_row = c_row;
    return p;
  }
  double Sum(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t k = 0; k < s.k; ++k)
      sum += double{a[static_cast<size_t>(i * a_row + k * a_column)]} * b[static_cast<size_t>(k * s.n + j)];
    return sum;
  }
};

void Multiply(const PanelProduct& p, int threads) {
  std::vector<float> scratch(PanelScratch(p, threads) / sizeof(float) + 1);
  MultiplyPanels(p, scratch.data(), Workers(threads));
}

TEST_P(Levels, MatchesSumsInDouble) {
  for (const Shape& s : kShapes)
    for (bool transposed : {false, true})
      for (int threads : {1, 3}) {
        Case t(s, transposed, 3);
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
            const double want =
                std::clamp(t.Sum(i, j) + t.bias[static_cast<size_t>(j)] + t.residual[at], -0.5, 2.0);
            ASSERT_NEAR(t.c[at], want, 1e-5 * (1 + std::sqrt(double(s.k))))
                << s.m << "x" << s.n << "x" << s.k << " at " << i << "," << j;
          }
      }
}

TEST_P(Levels, Accumulates) {
  for (const int64_t k : {int64_t{60}, 2 * kDepth + 9})
    for (const bool residual : {false, true}) {
      Case t({20, 40, k}, false, 0);
      const std::vector<float> before = t.c;
      PanelProduct p = t.Product();
      p.accumulate = true;
      if (residual) p.tile.residual = t.residual.data(), p.tile.residual_row = t.c_row;
      Multiply(p, 1);
      for (int64_t i = 0; i < 20; ++i)
        for (int64_t j = 0; j < 40; ++j) {
          const auto at = static_cast<size_t>(i * 40 + j);
          ASSERT_NEAR(t.c[at], before[at] + t.Sum(i, j) + (residual ? t.residual[at] : 0), 3e-4) << k;
        }
    }
}

TEST_P(Levels, IsTheSameForAnyNumberOfThreads) {
  for (const Shape& s : {Shape{200, 96, kDepth + 6}, Shape{17, 500, 64}, Shape{1, 1000, 300}}) {
    Case one(s, false, 0), many(s, false, 0);
    Multiply(one.Product(), 1);
    for (int threads : {2, 5}) {
      Multiply(many.Product(), threads);
      ASSERT_EQ(one.c, many.c) << threads << " threads";
    }
  }
}

TEST_P(Levels, NaNPassesTheClip) {
  Case t({3, 20, 4}, false, 0);
  t.a[4] = kNaN;
  PanelProduct p = t.Product();
  p.tile.clip = true, p.tile.low = 0, p.tile.high = 6;
  Multiply(p, 1);
  for (int64_t j = 0; j < 20; ++j) {
    EXPECT_FALSE(std::isnan(t.c[static_cast<size_t>(j)]));
    EXPECT_TRUE(std::isnan(t.c[static_cast<size_t>(20 + j)]));
  }
}

// Rows of a with a stride of 4096 bytes collide in the L1 cache and are copied first.
TEST_P(Levels, RowsThatCollideInCache) {
  const Shape s{30, 70, 1024};
  Case t(s, false, 0);
  Multiply(t.Product(), 2);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) ASSERT_NEAR(t.c[static_cast<size_t>(i * s.n + j)], t.Sum(i, j), 3e-4);
}

}  // namespace
}  // namespace tern::cpu
