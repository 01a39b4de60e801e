#include "compress/weights/gptq.h"
#include "compress/weights/block_adaround.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tern::compress {
namespace {

// Rows whose elements are correlated, as those of a network's layers are: mixtures of a few factors and
// noise.
std::vector<float> CorrelatedRows(int64_t rows, int64_t inputs, uint32_t seed) {
  constexpr int64_t kFactors = 12;
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> mix(static_cast<size_t>(kFactors * inputs)), x(static_cast<size_t>(rows * inputs));
  for (float& v : mix) v = normal(random);
  for (int64_t r = 0; r < rows; ++r) {
    float factors[kFactors];
    for (float& f : factors) f = normal(random);
    for (int64_t i = 0; i < inputs; ++i) {
      float v = 0.5f * normal(random);
      for (int64_t f = 0; f < kFactors; ++f) v += factors[f] * mix[static_cast<size_t>(f * inputs + i)];
      x[static_cast<size_t>(r * inputs + i)] = v;
    }
  }
  return x;
}

std::vector<float> Normal(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<size_t>(count));
  for (float& e : v) e = normal(random);
  return v;
}

// Returns the squared error of the layer's result on `rows`.
double ResultError(const std::vector<float>& w, const BlockMatrix& m, const std::vector<float>& rows) {
  double sum = 0;
  for (size_t r = 0; r < rows.size(); r += static_cast<size_t>(m.inputs))
    for (int64_t o = 0; o < m.outputs; ++o) {
      double e = 0;
      for (int64_t i = 0; i < m.inputs; ++i)
        e += static_cast<double>(m.At(o, i) - w[static_cast<size_t>(o * m.inputs + i)]) *
             rows[r + static_cast<size_t>(i)];
      sum += e * e;
    }
  return sum;
}

TEST(Hessian, InverseFactorIsTheFactorOfTheInverse) {
  const Workers workers(2);
  constexpr int64_t kInputs = 20;
  Hessian h(kInputs);
  const auto rows = Normal(50 * kInputs, 4);
  h.Add(rows.data(), 50, workers);
  const auto u = InverseFactor(h, 0, workers);
  // Uᵀ U H must be the identity.
  for (int64_t i = 0; i < kInputs; ++i)
    for (int64_t j = 0; j < kInputs; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < kInputs; ++p)
        for (int64_t q = 0; q <= std::min(i, p); ++q)
          sum += static_cast<double>(u[static_cast<size_t>(q * kInputs + i)]) *
                 u[static_cast<size_t>(q * kInputs + p)] * h.sum[static_cast<size_t>(p * kInputs + j)];
      EXPECT_NEAR(sum, i == j, 1e-4) << i << "," << j;
      EXPECT_TRUE(j >= i || u[static_cast<size_t>(i * kInputs + j)] == 0);
    }
}

TEST(Hessian, ErrorOfIsTheMeanSquaredResult) {
  Hessian h(3);
  const std::vector<float> rows = {1, 2, 3, -1, 0, 2}, e = {0.5f, -1, 2};
  h.Add(rows.data(), 2, Workers(1));
  EXPECT_NEAR(h.ErrorOf(e.data()), (4.5 * 4.5 + 3.5 * 3.5) / 2, 1e-9);
}

TEST(Gptq, BeatsRoundingToNearestOnNewRowsAsAdaRoundDoes) {
  const Workers workers(2);
  constexpr int64_t kInputs = 96, kOutputs = 24;
  const auto rows = CorrelatedRows(800, kInputs, 1), w = Normal(kInputs * kOutputs, 2);
  const std::vector<float> seen(rows.begin(), rows.begin() + 600 * kInputs),
      fresh(rows.begin() + 600 * kInputs, rows.end());
  Hessian h(kInputs);
  h.Add(seen.data(), 600, workers);
  for (int64_t block : {0, 32}) {
    const BlockFormat format{4, block, true};
    const double nearest =
                     ResultError(w, RoundToNearest(w, kOutputs, format, h.Diagonal().data(), workers), fresh),
                 gptq = ResultError(w, Gptq(w, kOutputs, format, h, workers), fresh),
                 adaround = ResultError(w, AdaRound(w, kOutputs, format, h, workers), fresh);
    EXPECT_GT(10 * std::log10(nearest / gptq), 2) << "dB, block " << block;
    EXPECT_GT(10 * std::log10(nearest / adaround), 2) << "dB, block " << block;
  }
}

TEST(AdaRound, KeepsScalesAndMovesWeightsByLessThanOneStep) {
  const Workers workers(2);
  constexpr int64_t kInputs = 64, kOutputs = 12;
  const auto rows = CorrelatedRows(300, kInputs, 9), w = Normal(kInputs * kOutputs, 10);
  Hessian h(kInputs);
  h.Add(rows.data(), 300, workers);
  const BlockFormat format{4, 32, true};
  const BlockMatrix nearest = RoundToNearest(w, kOutputs, format, h.Diagonal().data(), workers),
                    m = AdaRound(w, kOutputs, format, h, workers);
  EXPECT_EQ(m.scale, nearest.scale);
  EXPECT_EQ(m.q, AdaRound(w, kOutputs, format, h, Workers(1)).q);
  int moved = 0;
  for (int64_t o = 0; o < kOutputs; ++o)
    for (int64_t i = 0; i < kInputs; ++i) {
      const auto at = static_cast<size_t>(o * kInputs + i);
      const float scale = m.scale[static_cast<size_t>(o * m.blocks + m.block_of(i))];
      EXPECT_TRUE(m.q[at] >= format.low() && m.q[at] <= format.high()) << int{m.q[at]};
      if (m.q[at] == nearest.q[at]) continue;
      EXPECT_LT(std::fabs(m.At(o, i) - w[at]), scale);
      ++moved;
    }
  EXPECT_GT(moved, 50);
}

TEST(Gptq, InputsThatAreAlwaysZeroAreRoundedToNearest) {
  const Workers workers(1);
  Hessian h(40);
  auto rows = Normal(100 * 40, 5);
  for (size_t i = 0; i < rows.size(); ++i)
    if (i % 40 >= 20) rows[i] = 0;
  h.Add(rows.data(), 100, workers);
  const auto w = Normal(4 * 40, 6);
  const BlockMatrix m = Gptq(w, 4, {8, 0, false}, h, workers);
  for (int64_t o = 0; o < 4; ++o)
    for (int64_t i = 20; i < 40; ++i)
      EXPECT_NEAR(m.At(o, i), w[static_cast<size_t>(o * 40 + i)], 0.51 * m.scale[static_cast<size_t>(o)]);
}

TEST(Gptq, SameResultForAnyNumberOfThreads) {
  constexpr int64_t kInputs = 48;
  const auto rows = CorrelatedRows(200, kInputs, 7), w = Normal(kInputs * 20, 8);
  std::vector<int8_t> first;
  for (int threads : {1, 2}) {
    Hessian h(kInputs);
    h.Add(rows.data(), 200, Workers(threads));
    const BlockMatrix m = Gptq(w, 20, {4, 16, true}, h, Workers(threads));
    if (first.empty()) first = m.q;
    EXPECT_EQ(m.q, first);
  }
}

}  // namespace
}  // namespace tern::compress
