#include "kernels/cpu/gemm/strassen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class StrassenLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, StrassenLevels, testing::ValuesIn(LevelsHere()));

struct Shape {
  int64_t m, halves, k;  // `halves` is the number of panels per half of n
};
// The shapes cover enough and too few rows for Strassen, odd sizes, several blocks, several passes over k,
// and rows of a that collide in the cache.
const Shape kShapes[] = {{1, 1, 2},     {3, 2, 34},    {15, 1, 64}, {16, 1, 30},  {17, 2, 66},
                         {29, 5, 128},  {139, 1, 10},  {141, 2, 8}, {300, 1, 62}, {33, 3, 96},
                         {21, 1, 1026}, {40, 1, 2048}, {0, 1, 4}};

// A product with its operands. The gaps between rows of c must not be written.
struct Case {
  int64_t m, n, k, a_row, c_row;
  std::vector<float> a, b, bias, residual, packed, c;

  Case(const Shape& s, int64_t gap)
      : m(s.m),
        n(s.halves * 2 * TileSimd().columns),
        k(s.k),
        a_row(k + gap),
        c_row(n + gap),
        a(Random(m * a_row + 1, 1)),
        b(Random(k * n, 2)),
        bias(Random(n, 3)),
        residual(Random(m * c_row + 1, 4)),
        packed(static_cast<size_t>(PanelsSize(k, n)), kNaN),
        c(Random(m * c_row + 1, 5)) {
    PackPanels({b.data(), n, 1, 2.0f}, k, n, packed.data(), Workers(2));
  }
  PanelProduct Product() {
    PanelProduct p;
    p.m = m, p.n = n, p.k = k;
    p.a = a.data(), p.a_row = a_row;
    p.panels = packed.data();
    p.c = c.data(), p.c_row = c_row;
    return p;
  }
  double Sum(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t x = 0; x < k; ++x)
      sum += double{a[static_cast<size_t>(i * a_row + x)]} * b[static_cast<size_t>(x * n + j)];
    return 2 * sum;
  }
};

void Multiply(const PanelProduct& p, int threads) {
  std::vector<float> scratch(StrassenScratch(p, threads) / sizeof(float), kNaN);
  MultiplyStrassen(p, scratch.data(), Workers(threads));
}

// A session may run with fewer threads than it was planned for.
TEST_P(StrassenLevels, ScratchServesFewerThreads) {
  for (const Shape& s : kShapes) {
    Case t(s, 3);
    for (int threads : {2, 4, 8}) {
      const size_t most = StrassenScratch(t.Product(), threads);
      for (int fewer = 1; fewer <= threads; ++fewer)
        EXPECT_LE(StrassenScratch(t.Product(), fewer), most)
            << t.m << "x" << t.n << "x" << t.k << ", " << fewer;
    }
  }
}

TEST_P(StrassenLevels, MatchesSumsInDouble) {
  for (const Shape& s : kShapes)
    for (int64_t gap : {0, 3})
      for (int threads : {1, 3}) {
        Case t(s, gap);
        ASSERT_TRUE(StrassenFits(t.k, t.n));
        const std::vector<float> before = t.c;
        PanelProduct p = t.Product();
        p.tile = {t.bias.data(), t.residual.data(), t.c_row, true, -2.5f, 3.0f};
        Multiply(p, threads);
        for (int64_t i = 0; i < t.m; ++i)
          for (int64_t j = 0; j < t.c_row; ++j) {
            const auto at = static_cast<size_t>(i * t.c_row + j);
            if (j >= t.n) {
              ASSERT_EQ(t.c[at], before[at]) << "a gap was written";
              continue;
            }
            const double sum = t.Sum(i, j) + t.bias[static_cast<size_t>(j)] + t.residual[at];
            ASSERT_NEAR(t.c[at], std::fmin(std::fmax(sum, -2.5), 3.0), 4e-6 * std::sqrt(t.k + 16.0))
                << t.m << 'x' << t.n << 'x' << t.k << " at " << i << ", " << j;
          }
      }
}

TEST_P(StrassenLevels, Accumulates) {
  for (bool residual : {false, true}) {
    Case t({37, 1, 1100}, 0);
    const std::vector<float> before = t.c;
    PanelProduct p = t.Product();
    p.accumulate = true;
    if (residual) p.tile.residual = t.residual.data(), p.tile.residual_row = t.c_row;
    Multiply(p, 3);
    for (int64_t i = 0; i < t.m * t.n; ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_NEAR(t.c[at], before[at] + (residual ? t.residual[at] : 0) + t.Sum(i / t.n, i % t.n), 2e-4);
    }
  }
}

TEST_P(StrassenLevels, RunsTheRestOfTheEpilogue) {
  Case t({33, 3, 64}, 0);
  Epilogue epilogue(DType::kF32, {t.m, t.n});
  epilogue.SetActivation(UnaryKind::kNeg, 0, 0, nullptr, 0);
  PanelProduct p = t.Product();
  p.epilogue = &epilogue;
  Multiply(p, 3);
  for (int64_t i = 0; i < t.m * t.n; ++i)
    ASSERT_NEAR(t.c[static_cast<size_t>(i)], -t.Sum(i / t.n, i % t.n), 1e-4);
}

TEST_P(StrassenLevels, SameForAnyNumberOfThreads) {
  for (const Shape& s : kShapes) {
    Case one(s, 0);
    Multiply(one.Product(), 1);
    for (int threads : {2, 3, 7}) {
      Case many(s, 0);
      Multiply(many.Product(), threads);
      ASSERT_EQ(std::memcmp(one.c.data(), many.c.data(), one.c.size() * sizeof(float)), 0) << threads;
    }
  }
}

TEST_P(StrassenLevels, NanAndInfinityStayInTheirRow) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    Case t({34, 1, 64}, 0);
    const int64_t row = 5;
    t.a[static_cast<size_t>(row * t.a_row + 3)] = bad;
    Multiply(t.Product(), 3);
    for (int64_t i = 0; i < t.m; ++i)
      for (int64_t j = 0; j < t.n; ++j)
        ASSERT_EQ(std::isfinite(t.c[static_cast<size_t>(i * t.c_row + j)]), i != row) << i << ", " << j;
  }
}

// The error of a row is relative to the magnitude of this row, even if the algorithm would add it to a much
// larger row. The products take several passes over k.
TEST_P(StrassenLevels, LargeRowsDoNotAffectOthers) {
  for (const float factor : {1e6f, 1e-6f, 0.0f, 16.0f}) {
    Case t({290, 1, 2048}, 0);
    const auto large = [](int64_t row) { return row % 19 == 4; };
    for (int64_t i = 0; i < t.m; ++i)
      for (int64_t x = 0; large(i) && x < t.k; ++x) t.a[static_cast<size_t>(i * t.a_row + x)] *= factor;
    Multiply(t.Product(), 3);
    for (int64_t i = 0; i < t.m; ++i)
      for (int64_t j = 0; j < t.n; ++j)
        ASSERT_NEAR(t.c[static_cast<size_t>(i * t.c_row + j)], t.Sum(i, j),
                    (factor == 16 ? 2e-3 : 2e-4) * (large(i) ? factor : 1.0f))
            << factor << " at " << i << ", " << j;
  }
}

// The algorithm adds columns of b to columns, and rows to rows. So all columns and all rows must have similar
// magnitudes, and their sums must be finite.
TEST_P(StrassenLevels, BalancedWeights) {
  const int64_t n = 6 * TileSimd().columns, k = 40;
  const auto is_balanced = [&](const auto& change) {
    std::vector<float> b = Random(k * n, 2), packed(static_cast<size_t>(PanelsSize(k, n)));
    for (int64_t i = 0; i < k * n; ++i) change(i / n, i % n, b[static_cast<size_t>(i)]);
    PackPanels({b.data(), n, 1, 1.0f}, k, n, packed.data(), Workers(1));
    return StrassenBalanced(packed.data(), k, n);
  };
  EXPECT_TRUE(is_balanced([](int64_t, int64_t, float&) {}));
  EXPECT_TRUE(is_balanced([](int64_t, int64_t, float& b) { b *= 1e-30f; }));
  for (const int64_t at : {int64_t{0}, int64_t{7}, int64_t{39}}) {
    for (const float factor : {0.0f, 0.1f, 10.0f, 1e30f}) {
      EXPECT_FALSE(is_balanced([&](int64_t r, int64_t, float& b) { b *= r == at ? factor : 1; }))
          << at << factor;
      EXPECT_FALSE(is_balanced([&](int64_t, int64_t c, float& b) { b *= c == n - 1 - at ? factor : 1; }))
          << at << factor;
    }
    for (const float bad : {kNaN, kInfinity, -kInfinity})
      EXPECT_FALSE(is_balanced([&](int64_t r, int64_t c, float& b) {
        b = r == at && c == n - 1 - at ? bad : b;
      })) << at;
  }
  EXPECT_FALSE(is_balanced([](int64_t, int64_t, float& b) { b *= 2e38f; })) << "sums overflow";
}

TEST_P(StrassenLevels, SumsOfHugeRowsDoNotOverflow) {
  Case t({64, 1, 64}, 0);
  for (float& v : t.a) v = v < 0 ? -3e38f : 3e38f;
  for (float& v : t.packed) v *= 1e-30f;
  Multiply(t.Product(), 3);
  for (int64_t i = 0; i < t.m * t.n; ++i) ASSERT_TRUE(std::isfinite(t.c[static_cast<size_t>(i)])) << i;
}

// Prints the table in docs/reports/accuracy.md.
TEST(Strassen, Accuracy) {
  std::printf("| m, n, k | plain | Strassen |\n|---|---|---|\n");
  for (const int64_t size : {128, 256, 512, 1024, 2048}) {
    Case t({64, std::max<int64_t>(1, 128 / TileSimd().columns), size}, 0);
    Multiply(t.Product(), 1);
    Case plain = t;
    const PanelProduct p = plain.Product();
    std::vector<float> scratch(PanelScratch(p, 1) / sizeof(float) + 1);
    MultiplyPanels(p, scratch.data(), Workers(1));
    double largest = 0, squares = 0, worst[2] = {0, 0}, error[2] = {0, 0};
    for (int64_t i = 0; i < t.m * t.n; ++i) {
      const double sum = t.Sum(i / t.n, i % t.n);
      largest = std::max(largest, std::fabs(sum)), squares += sum * sum;
      const float got[2] = {plain.c[static_cast<size_t>(i)], t.c[static_cast<size_t>(i)]};
      for (int w = 0; w < 2; ++w)
        worst[w] = std::max(worst[w], std::fabs(got[w] - sum)), error[w] += (got[w] - sum) * (got[w] - sum);
    }
    std::printf("| %d, %d, %d |", 64, static_cast<int>(t.n), static_cast<int>(size));
    for (int w = 0; w < 2; ++w)
      std::printf(" %.1e / %.1e |", worst[w] / largest, std::sqrt(error[w] / squares));
    std::printf("\n");
    EXPECT_LT(worst[1] / largest, 5e-6) << size;
  }
}

}  // namespace
}  // namespace tern::cpu
