#include "server/generate/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace tern::server {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::map<int64_t, int> Draws(const SamplingOptions& options, const std::vector<float>& scores,
                             int count = 4000) {
  std::map<int64_t, int> out;
  for (int i = 0; i < count; ++i) {
    SamplingOptions one = options;
    one.seed = static_cast<uint64_t>(i);
    const auto token = Sampler(one, {}).Choose(scores.data(), static_cast<int64_t>(scores.size()));
    EXPECT_TRUE(token.ok());
    if (token.ok()) ++out[*token];
  }
  return out;
}

TEST(Sampler, ChoosesTheLargestAtTemperatureZero) {
  SamplingOptions greedy;
  greedy.temperature = 0;
  const std::vector<float> scores = {1, 5, 5, -2};
  EXPECT_EQ(*Sampler(greedy, {}).Choose(scores.data(), 4), 1);
  EXPECT_EQ(LargestScore(scores.data(), 4), 1);
  std::vector<float> many(100, -kInfinity);
  EXPECT_EQ(LargestScore(many.data(), 100), -1);
  many[77] = 3;
  EXPECT_EQ(LargestScore(many.data(), 100), 77);
  many[3] = std::nanf("");
  EXPECT_EQ(LargestScore(many.data(), 100), -1);
  EXPECT_EQ(Sampler(greedy, {}).Choose(many.data(), 100).status().code(), Code::kInternal);
}

TEST(Sampler, DrawsByProbability) {
  const std::vector<float> scores = {std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  auto draws = Draws({}, scores);
  EXPECT_NEAR(draws[0], 2000, 200);
  EXPECT_NEAR(draws[1], 1200, 200);
  SamplingOptions cold;
  cold.temperature = 0.5;  // squares the probabilities
  EXPECT_NEAR(Draws(cold, scores)[0], 4000 * 0.25 / 0.38, 200);
  SamplingOptions nucleus;
  nucleus.top_p = 0.6;
  draws = Draws(nucleus, scores);
  EXPECT_EQ(draws.count(2), 0U);
  EXPECT_NEAR(draws[0], 2500, 200);
  SamplingOptions two;
  two.top_k = 2;
  EXPECT_EQ(Draws(two, scores).count(2), 0U);
}

TEST(Sampler, GivesTheSameTokensForASeed) {
  std::vector<float> scores(1000);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>(i % 7);
  SamplingOptions options;
  options.seed = 42;
  Sampler a(options, {}), b(options, {});
  for (int i = 0; i < 50; ++i) EXPECT_EQ(*a.Choose(scores.data(), 1000), *b.Choose(scores.data(), 1000));
}

TEST(Sampler, PenalizesTokens) {
  SamplingOptions options;
  options.temperature = 0;
  options.frequency_penalty = 1;
  const std::vector<float> scores = {3, 2.5F, 1};
  Sampler sampler(options, {});
  EXPECT_EQ(*sampler.Choose(scores.data(), 3), 0);
  EXPECT_EQ(*sampler.Choose(scores.data(), 3), 1);
  EXPECT_EQ(*sampler.Choose(scores.data(), 3), 0);
  SamplingOptions repeat;
  repeat.temperature = 0;
  repeat.repetition_penalty = 2;
  EXPECT_EQ(*Sampler(repeat, {0}).Choose(scores.data(), 3), 1);
  SamplingOptions bias;
  bias.temperature = 0;
  bias.bias = {{2, 100.0F}, {77, 100.0F}};
  EXPECT_EQ(*Sampler(bias, {}).Choose(scores.data(), 3), 2);
}

TEST(Sampler, TellsProbabilities) {
  const std::vector<float> scores = {std::log(0.5F) + 7, std::log(0.3F) + 7, std::log(0.2F) + 7};
  const TokenLogprob found = LogprobOf(scores.data(), 3, 2, 2);
  EXPECT_NEAR(found.token.logprob, std::log(0.2), 1e-5);
  ASSERT_EQ(found.top.size(), 2U);
  EXPECT_EQ(found.top[0].id, 0);
  EXPECT_NEAR(found.top[1].logprob, std::log(0.3), 1e-5);
}

}  // namespace
}  // namespace tern::server
