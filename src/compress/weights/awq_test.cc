#include "compress/weights/awq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tern::compress {
namespace {

struct Example {
  explicit Example(float size_of_large) : h(kInputs) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> rows(300 * kInputs);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = normal(random) * (i % kInputs % 16 == 3 ? size_of_large : 1);
    h.Add(rows.data(), 300, workers);
    for (size_t i = 0; i < kInputs * kOutputs; ++i) w.push_back(normal(random));
  }
  double ErrorOf(const BlockMatrix& m, const std::vector<float>& factors) const {
    double sum = 0;
    std::vector<float> e(kInputs);
    for (int64_t o = 0; o < m.outputs; ++o) {
      for (size_t i = 0; i < kInputs; ++i)
        e[i] = m.At(o, static_cast<int64_t>(i)) / factors[i] - w[static_cast<size_t>(o) * kInputs + i];
      sum += h.ErrorOf(e.data());
    }
    return sum;
  }

  static constexpr size_t kInputs = 96, kOutputs = 40;
  Workers workers{2};
  Hessian h;
  std::vector<float> w;
};

TEST(Awq, ReducesTheErrorIfSomeInputsAreLarge) {
  const Example x(20);
  const BlockFormat format{4, 32, true};
  const auto factors = AwqFactors({{&x.w, x.kOutputs}}, format, x.h, x.workers);
  ASSERT_EQ(factors.size(), x.kInputs);
  EXPECT_GT(factors[3], factors[4]);
  std::vector<float> importance = x.h.Diagonal();
  for (size_t i = 0; i < importance.size(); ++i) importance[i] /= factors[i] * factors[i];
  const double plain = x.ErrorOf(RoundToNearest(x.w, x.kOutputs, format, x.h.Diagonal().data(), x.workers),
                                 std::vector<float>(x.kInputs, 1)),
               scaled = x.ErrorOf(
                   RoundToNearest(Multiplied(x.w, factors), x.kOutputs, format, importance.data(), x.workers),
                   factors);
  EXPECT_GT(10 * std::log10(plain / scaled), 1) << "dB";
}

TEST(Awq, LeavesInputsOfEqualSizeAlone) {
  const Example x(1);
  EXPECT_TRUE(AwqFactors({{&x.w, x.kOutputs}}, {4, 32, true}, x.h, x.workers).empty());
}

}  // namespace
}  // namespace tern::compress
