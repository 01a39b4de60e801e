// Compares Strassen's algorithm with plain products for random shapes. Scratch memory has exactly the size
// that StrassenScratch returns, so that a sanitizer finds accesses beyond it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cpu/gemm/strassen.h"
#include "kernels/cpu/simd/level_test_support.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kLarge = 1e5f;

class StrassenRandom : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, StrassenRandom, testing::ValuesIn(LevelsHere()));

enum class Content { kEven, kNotFinite, kLargeRow };

struct Case {
  int64_t m, n, k, a_row, c_row;
  Content content;
  bool accumulate, bias, residual;
};

class Cases {
 public:
  Case Next() {
    Case c{};
    c.m = Between(1, OneOf(2) ? 80 : 500), c.n = 2 * TileSimd().columns * Between(1, 3);
    c.k = 2 * Between(1, OneOf(2) ? 64 : 700);
    const int64_t gap = OneOf(2) ? Between(1, 40) : 0;
    c.a_row = OneOf(4) ? RoundUp(c.k, 512) : c.k + gap;  // multiples of 512 floats collide in L1
    c.c_row = c.n + gap;
    c.content = static_cast<Content>(Between(0, 2));
    c.accumulate = OneOf(3), c.bias = OneOf(2), c.residual = OneOf(2);
    return c;
  }
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  bool OneOf(int64_t count) { return Between(1, count) == 1; }
  std::mt19937 random_{9};
};

std::vector<float> Strassen(const PanelProduct& p, std::vector<float> c, int threads) {
  PanelProduct product = p;
  product.c = c.data();
  std::vector<float> scratch(StrassenScratch(product, threads) / sizeof(float), kNaN);
  MultiplyStrassen(product, scratch.data(), Workers(threads));
  return c;
}

std::vector<float> Plain(const PanelProduct& p, std::vector<float> c) {
  PanelProduct product = p;
  product.c = c.data();
  std::vector<float> scratch(PanelScratch(product, 1) / sizeof(float), kNaN);
  MultiplyPanels(product, scratch.data(), Workers(1));
  return c;
}

void Check(const Case& s, int64_t row, int64_t column) {
  SCOPED_TRACE(testing::Message() << s.m << "x" << s.n << "x" << s.k << ", rows " << s.a_row << " and "
                                  << s.c_row << ", content " << static_cast<int>(s.content));
  std::vector<float> a = Random(s.m * s.a_row, 1);
  const std::vector<float> b = Random(s.k * s.n, 2), bias = Random(s.n, 3), before = Random(s.m * s.c_row, 4),
                           residual = Random(s.m * s.c_row, 5);
  if (s.content == Content::kNotFinite) a[static_cast<size_t>(row * s.a_row + column)] = kNaN;
  for (int64_t i = 0; i < s.k && s.content == Content::kLargeRow; ++i)
    a[static_cast<size_t>(row * s.a_row + i)] *= kLarge;
  std::vector<float> packed(static_cast<size_t>(PanelsSize(s.k, s.n)));
  PackPanels({b.data(), s.n, 1, 1.f}, s.k, s.n, packed.data(), Workers(1));
  PanelProduct p;
  p.m = s.m, p.n = s.n, p.k = s.k;
  p.a = a.data(), p.a_row = s.a_row, p.panels = packed.data(), p.c_row = s.c_row;
  p.accumulate = s.accumulate;
  p.tile = {s.bias ? bias.data() : nullptr, s.residual ? residual.data() : nullptr, s.c_row, true, -2e6f, 30};
  const std::vector<float> got = Strassen(p, before, 1), want = Plain(p, before);
  for (int64_t i = 0; i < s.m * s.c_row; ++i) {
    const auto at = static_cast<size_t>(i);
    if (i % s.c_row >= s.n)
      ASSERT_EQ(got[at], before[at]) << "a gap was written";
    else if (std::isnan(want[at]))
      ASSERT_TRUE(std::isnan(got[at])) << i / s.c_row << ", " << i % s.c_row;
    else
      ASSERT_NEAR(got[at], want[at],
                  3e-4 * (s.content == Content::kLargeRow && i / s.c_row == row ? kLarge : 1))
          << i / s.c_row << ", " << i % s.c_row;
  }
  for (int threads : {2, 6}) {
    const std::vector<float> many = Strassen(p, before, threads);
    ASSERT_EQ(std::memcmp(many.data(), got.data(), got.size() * sizeof(float)), 0) << threads << " threads";
  }
}

TEST_P(StrassenRandom, MatchesPlainProducts) {
  Cases cases;
  for (int i = 0; i < 80; ++i) {
    const Case c = cases.Next();
    ASSERT_NO_FATAL_FAILURE(Check(c, cases.Between(0, c.m - 1), cases.Between(0, c.k - 1)));
  }
}

}  // namespace
}  // namespace tern::cpu
