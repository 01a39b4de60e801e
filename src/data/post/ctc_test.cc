#include "data/post/ctc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "data/random.h"

namespace tern::data {
namespace {

std::vector<int64_t> Collapse(const std::vector<int64_t>& path, int64_t blank) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < path.size(); ++i)
    if (path[i] != blank && (i == 0 || path[i] != path[i - 1])) out.push_back(path[i]);
  return out;
}

// Sums the probabilities of all paths.
std::map<std::vector<int64_t>, double> AllPrefixes(const Tensor& t, int64_t blank) {
  std::map<std::vector<int64_t>, double> out;
  const int64_t steps = t.dim(0), classes = t.dim(1);
  const auto paths = static_cast<int64_t>(std::pow(classes, steps));
  for (int64_t code = 0; code < paths; ++code) {
    std::vector<int64_t> path;
    double log_probability = 0;
    for (int64_t s = 0, rest = code; s < steps; ++s, rest /= classes) {
      path.push_back(rest % classes);
      log_probability += t.data<float>()[s * classes + path.back()];
    }
    out[Collapse(path, blank)] += std::exp(log_probability);
  }
  return out;
}

Tensor RandomSteps(int64_t steps, int64_t classes, uint64_t seed) {
  Tensor t = *RandomTensor(DType::kF32, {steps, classes}, seed, "steps");
  for (int64_t s = 0; s < steps; ++s) {
    double total = 0;
    float* row = t.data<float>() + s * classes;
    for (int64_t c = 0; c < classes; ++c) total += std::exp(3 * row[c]);
    for (int64_t c = 0; c < classes; ++c) row[c] = static_cast<float>(3 * row[c] - std::log(total));
  }
  return t;
}

TEST(Ctc, GreedyMergesRepeatsAndRemovesBlanks) {
  Tensor t(DType::kF32, {6, 3});
  const int64_t best[] = {1, 1, 0, 1, 2, 2};
  for (int64_t s = 0; s < 6; ++s)
    for (int64_t c = 0; c < 3; ++c) t.data<float>()[3 * s + c] = c == best[s] ? -0.1f : -3;
  auto result = CtcGreedyDecode(t, 0);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->tokens, (std::vector<int64_t>{1, 1, 2}));
  EXPECT_NEAR(result->log_probability, -0.6, 1e-6);
  EXPECT_EQ(*JoinTokens(result->tokens, {"", "a", "b"}), "aab");
  EXPECT_FALSE(JoinTokens({3}, {"", "a", "b"}).ok());
}

TEST(Ctc, WideBeamEqualsTheSumOfAllPaths) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const int64_t blank = static_cast<int64_t>(seed % 3);
    const Tensor t = RandomSteps(5, 3, seed);
    const auto expected = AllPrefixes(t, blank);
    auto results = CtcBeamDecode(t, blank, 4096);
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    EXPECT_EQ(results->size(), expected.size());
    for (const CtcResult& r : *results)
      EXPECT_NEAR(std::exp(r.log_probability), expected.at(r.tokens), 1e-5) << "seed " << seed;
    for (size_t i = 1; i < results->size(); ++i)
      EXPECT_GE((*results)[i - 1].log_probability, (*results)[i].log_probability);
  }
}

TEST(Ctc, NarrowBeamReturnsItsSize) {
  auto results = CtcBeamDecode(RandomSteps(40, 12, 7), 0, 5);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->size(), 5u);
}

TEST(Ctc, RefusesWrongArguments) {
  EXPECT_FALSE(CtcGreedyDecode(Tensor(DType::kF32, {4}), 0).ok());
  EXPECT_FALSE(CtcGreedyDecode(Tensor(DType::kF32, {4, 3}), 3).ok());
  EXPECT_FALSE(CtcBeamDecode(Tensor(DType::kF32, {4, 3}), 0, 0).ok());
}

}  // namespace
}  // namespace tern::data
