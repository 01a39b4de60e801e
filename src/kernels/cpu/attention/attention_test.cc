#include "kernels/cpu/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

enum class Mask { kNone, kFloat, kBool, kShort, kOne };

struct Case {
  int64_t batch, heads, kv_heads, queries, keys, size, value_size;
  Mask mask = Mask::kNone;
  bool causal = false, lengths = false, guarded = false;
  float softcap = 0;
  int64_t past = 0;
};

// The cases cover few queries, partial tiles, grouped heads, masks and several blocks of keys.
const Case kCases[] = {
    {1, 1, 1, 1, 1, 1, 1},
    {1, 2, 1, 3, 50, 20, 33, Mask::kFloat},
    {2, 4, 2, 5, 7, 26, 26, Mask::kBool},
    {3, 2, 2, 49, 49, 32, 32, Mask::kFloat},
    {1, 2, 1, 64, 40, 64, 16, Mask::kShort, false, false, true},
    {1, 1, 1, 61, 61, 9, 40, Mask::kNone, true},
    {2, 2, 2, 17, 33, 8, 8, Mask::kOne, true, true, false, 0, 16},
    {1, 2, 2, 60, 130, 16, 24, Mask::kBool, false, true, true, 3},
    {1, 1, 1, 57, 1100, 16, 16, Mask::kFloat, true, false, false, 0, 1043},
    {1, 1, 1, 70, 1300, 8, 8, Mask::kBool, false, false, true},
    {2, 1, 1, 2, 1200, 12, 5, Mask::kNone, true, true, true, 0, 1198},
    {1, 1, 1, 1100, 1100, 4, 4, Mask::kNone, true},
    {2, 4, 2, 300, 70, 16, 16, Mask::kFloat},
    {2, 2, 1, 5, 0, 16, 16},
    {1, 2, 1, 2, 0, 16, 16},
};

class AttentionLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, AttentionLevels, testing::ValuesIn(LevelsHere()));

struct Problem {
  AttentionShape s;
  std::vector<float> q, k, v, y, mask;
  std::vector<uint8_t> shown;
  std::vector<int64_t> lengths;
  std::vector<std::byte> scratch;  // reused by the next run, as in a plan

  explicit Problem(const Case& c) {
    s.batch = c.batch, s.heads = c.heads, s.kv_heads = c.kv_heads, s.queries = c.queries, s.keys = c.keys;
    s.size = c.size, s.value_size = c.value_size, s.past = c.past, s.scale = 0.7f, s.softcap = c.softcap;
    s.causal = c.causal, s.guarded = c.guarded, s.bool_mask = c.mask == Mask::kBool;
    s.q = HeadStrides::Packed(c.heads, c.queries, c.size),
    s.k = HeadStrides::Split(c.kv_heads, c.keys, c.size);
    s.v = HeadStrides::Packed(c.kv_heads, c.keys, c.value_size);
    s.y = HeadStrides::Packed(c.heads, c.queries, c.value_size);
    q = Random(c.batch * c.heads * c.queries * c.size, 1),
    k = Random(c.batch * c.kv_heads * c.keys * c.size, 2);
    v = Random(c.batch * c.kv_heads * c.keys * c.value_size, 3);
    y.assign(static_cast<size_t>(c.batch * c.heads * c.queries * c.value_size), 7.f);
    if (c.mask != Mask::kNone) SetMask(c);
    if (c.lengths)
      for (int64_t b = 0; b < c.batch; ++b) lengths.push_back(std::max<int64_t>(1, c.keys - 3 * b));
  }
  void SetMask(const Case& c) {
    s.mask = {c.batch, 1, c.queries, c.keys};
    if (c.mask == Mask::kShort) s.mask = {1, c.heads, 1, c.keys - 3};
    if (c.mask == Mask::kOne) s.mask = {c.batch, 1, c.queries, 1};
    mask = Random(s.mask[0] * s.mask[1] * s.mask[2] * s.mask[3], 4);
    for (size_t i = 0; i < mask.size(); ++i) {
      if (i % 5 == 2 && c.mask == Mask::kFloat) mask[i] = -kInf;
      shown.push_back(mask[i] > -0.3f);
    }
    // One row is fully masked.
    if (c.mask == Mask::kBool)
      for (int64_t j = 0; j < c.keys; ++j) shown[static_cast<size_t>(3 % c.queries * c.keys + j)] = 0;
  }
  AttentionTensors Tensors() {
    AttentionTensors t;
    t.q = q.data(), t.k = k.data(), t.v = v.data(), t.y = y.data();
    if (s.mask[3]) t.mask = s.bool_mask ? static_cast<const void*>(shown.data()) : mask.data();
    if (!lengths.empty()) t.lengths = lengths.data();
    return t;
  }
  std::vector<float> Run(int threads) {
    std::fill(y.begin(), y.end(), 7.f);
    scratch.resize(AttentionScratch(s, threads), std::byte{0xff});
    ComputeAttention(s, Tensors(), scratch.data(), Workers(threads));
    return y;
  }

  double Score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t g = h / (s.heads / s.kv_heads);
    double sum = 0;
    for (int64_t e = 0; e < s.size; ++e)
      sum +=
          double{q[static_cast<size_t>(s.q.At(b, h, i) + e)]} * k[static_cast<size_t>(s.k.At(b, g, j) + e)];
    sum *= double{s.scale};
    if (s.softcap > 0) sum = s.softcap * std::tanh(sum / s.softcap);
    if (s.causal && j > i + s.past) return -kInf;
    if (!lengths.empty() && j >= lengths[static_cast<size_t>(b)]) return -kInf;
    if (!s.mask[3]) return sum;
    if (s.mask[3] != 1 && j >= s.mask[3]) return -kInf;
    const auto at = [](int64_t index, int64_t dim) { return dim == 1 ? 0 : index; };
    const auto m = static_cast<size_t>(
        ((at(b, s.mask[0]) * s.mask[1] + at(h, s.mask[1])) * s.mask[2] + at(i, s.mask[2])) * s.mask[3] +
        at(j, s.mask[3]));
    return s.bool_mask ? (shown[m] ? sum : -kInf) : sum + mask[m];
  }
  // Computes a row of y in f64.
  std::vector<double> Expected(int64_t b, int64_t h, int64_t i) const {
    std::vector<double> p, row(static_cast<size_t>(s.value_size), 0.0);
    double top = -kInf, total = 0;
    for (int64_t j = 0; j < s.keys; ++j) p.push_back(Score(b, h, i, j)), top = std::max(top, p.back());
    for (double& x : p) total += x = std::exp(x - top);
    for (int64_t j = 0; j < s.keys; ++j)
      for (int64_t e = 0; e < s.value_size; ++e) {
        const double share = p[static_cast<size_t>(j)] / total;
        row[static_cast<size_t>(e)] += (s.guarded && std::isnan(share) ? 0 : share) *
                                       v[static_cast<size_t>(s.v.At(b, h / (s.heads / s.kv_heads), j) + e)];
      }
    return row;
  }
};

// Compares with the formula in f64. `share` is the maximum ratio of the sum of squared errors to the sum of
// squared results.
void ExpectNearFormula(const Case& c, const Problem& p, const std::vector<float>& y, double tolerance,
                       double share) {
  double squares = 0, errors = 0;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i) {
        const auto row = p.Expected(b, h, i);
        for (int64_t e = 0; e < c.value_size; ++e) {
          const double expected = row[static_cast<size_t>(e)];
          const float got = y[static_cast<size_t>(p.s.y.At(b, h, i) + e)];
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : std::abs(got - expected) < tolerance)
              << got << " instead of " << expected << " in row " << i << " of head " << h << ", " << c.queries
              << " queries, " << c.keys << " keys";
          if (std::isnan(expected)) continue;
          squares += expected * expected, errors += (got - expected) * (got - expected);
        }
      }
  EXPECT_LE(errors, share * squares) << c.queries << " queries, " << c.keys << " keys";
}

TEST_P(AttentionLevels, MatchesTheFormula) {
  for (const Case& c : kCases) {
    Problem p(c);
    ExpectNearFormula(c, p, p.Run(1), 2e-5, 1e-9);
  }
}

TEST_P(AttentionLevels, IsTheSameForAnyNumberOfThreads) {
  for (const Case& c : kCases) {
    Problem p(c);
    const auto one_thread = p.Run(1);
    for (int threads : {2, 3}) {
      const auto threaded = p.Run(threads);
      for (size_t i = 0; i < one_thread.size(); ++i)
        ASSERT_TRUE(one_thread[i] == threaded[i] || (std::isnan(one_thread[i]) && std::isnan(threaded[i])))
            << "element " << i << " of " << c.queries << " queries, " << c.keys << " keys";
    }
  }
}

TEST_P(AttentionLevels, ForgetsTheKeysOfEarlierRuns) {
  for (int threads : {1, 3}) {
    Problem p({1, 1, 1, 200, 40, 16, 16}), other({1, 1, 1, 200, 40, 16, 16});
    p.Run(threads);
    for (Problem* problem : {&p, &other})
      std::fill(problem->k.begin(), problem->k.end(), 0.5f), problem->v = p.q;
    EXPECT_EQ(p.Run(threads), other.Run(threads));
  }
}

class AttentionBf16 : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, AttentionBf16, testing::ValuesIn(LevelsAndBf16Here()));

// With bf16 operands, scores have relative errors of about 2^-8. The exponentials amplify these errors, so
// the tolerances are wider than for f32.
TEST_P(AttentionBf16, StaysNearTheFormula) {
  for (const Case& c : kCases) {
    Problem p(c);
    p.s.operands = Operands::kBf16;
    const auto y = p.Run(1);
    ExpectNearFormula(c, p, y, 0.012, 1e-4);
    const auto threaded = p.Run(3);
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_TRUE(y[i] == threaded[i] || (std::isnan(y[i]) && std::isnan(threaded[i])));
  }
}

TEST_P(AttentionLevels, PropagatesNan) {
  Problem p({1, 1, 1, 20, 40, 16, 16});
  p.k[5 * 16] = std::numeric_limits<float>::quiet_NaN();
  for (float y : p.Run(1)) EXPECT_TRUE(std::isnan(y));
  p.s.guarded = true;
  for (float y : p.Run(1)) EXPECT_EQ(y, 0);
}

}  // namespace
}  // namespace tern::cpu
