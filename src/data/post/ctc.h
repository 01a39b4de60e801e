// Decodes the outputs of models that are trained with connectionist temporal classification.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

struct CtcResult {
  std::vector<int64_t> tokens;
  double log_probability = 0;  // of the best path (greedy), or of the prefix's paths in the beam
};

// `log_probs` is [T, C] or [1, T, C]: log probabilities of each class at each step. Takes the best class of
// each step, merges repeats and removes blanks.
Result<CtcResult> CtcGreedyDecode(const Tensor& log_probs, int64_t blank);
// Prefix beam search. Returns up to `beam` results, best first. `beam` is 1 to 4096.
Result<std::vector<CtcResult>> CtcBeamDecode(const Tensor& log_probs, int64_t blank, int64_t beam);
// Joins the names of tokens. Fails if a token has no name.
Result<std::string> JoinTokens(const std::vector<int64_t>& tokens, const std::vector<std::string>& names);

}  // namespace tern::data
