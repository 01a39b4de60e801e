#include "kernels/cpu/gemm/transposed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class TransposedLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, TransposedLevels, testing::ValuesIn(LevelsHere()));

struct Shape {
  int64_t m, n, k;
};
const Shape kShapes[] = {{5, 168, 3},   {7, 169, 40},   {20, 400, 33},
                         {64, 501, 20}, {33, 170, 600}, {9, 337, 512}};

std::vector<float> Product(const GemmParams& given, const Shape& s, int threads) {
  GemmParams p = given;
  std::vector<float> c(static_cast<size_t>(s.m * s.n), 7.f);
  p.c = c.data();
  EXPECT_TRUE(WorthTransposing(p));
  std::vector<std::byte> scratch(GemmScratch(p, threads), std::byte{0xff});
  Gemm(p, scratch.data(), Workers(threads));
  return c;
}

TEST_P(TransposedLevels, MultipliesWithBiasAndActivation) {
  for (const Shape& s : kShapes) {
    const auto a = Random(s.m * s.k, 1), b = Random(s.n * s.k, 2), bias = Random(s.n, 3);
    Epilogue epilogue(DType::kF32, {s.m, s.n});
    epilogue.SetActivation(UnaryKind::kRelu, 0, 0, nullptr, 0);
    GemmParams p;
    p.m = s.m, p.n = s.n, p.k = s.k, p.c_row = s.n, p.alpha = 0.5f;
    p.a = {a.data(), DType::kF32, s.k, 1};
    p.b = {b.data(), DType::kF32, 1, s.k};
    p.column_bias = bias.data();
    p.epilogue = &epilogue;
    const auto c = Product(p, s, 1);
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < s.k; ++k)
          sum += double{a[static_cast<size_t>(i * s.k + k)]} * b[static_cast<size_t>(j * s.k + k)];
        const double expected = std::max(0.0, sum * 0.5 + bias[static_cast<size_t>(j)]);
        ASSERT_NEAR(c[static_cast<size_t>(i * s.n + j)], expected, 2e-5) << i << ", " << j << " of " << s.n;
      }
    EXPECT_EQ(c, Product(p, s, 3));
  }
}

}  // namespace
}  // namespace tern::cpu
