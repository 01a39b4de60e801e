// Chooses the next token from the scores of a model.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server/generate/generation.h"

namespace tern::server {

// The choices depend only on the options, the scores and the tokens so far. Other sequences do not change
// them.
// Not thread-safe.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, const std::vector<int64_t>& prompt);

  // Chooses a token and counts it for the penalties. Fails if a score is NaN, if the largest one is not
  // finite, or if the bias and the penalties leave no token.
  Result<int64_t> Choose(const float* scores, int64_t vocabulary);

 private:
  void Adjust();
  int64_t Draw();
  double Uniform();  // in [0, 1)

  const SamplingOptions options_;
  uint64_t random_;
  std::unordered_map<int64_t, int64_t> generated_;  // how often, by token
  std::unordered_map<int64_t, bool> seen_;          // tokens of the prompt too, for repetition_penalty
  std::vector<float> scores_;
  std::vector<int64_t> candidates_;
};

// Returns the logarithm of the probability of a token before any option changes the scores, and the `count`
// most probable tokens.
TokenLogprob LogprobOf(const float* scores, int64_t vocabulary, int64_t token, int count);
// Returns the index of the first largest score, or -1 if no score is greater than -infinity or one is NaN.
int64_t LargestScore(const float* scores, int64_t count);

}  // namespace tern::server
