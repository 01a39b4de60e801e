// Rules that adjust the scores before tokens are chosen: penalties, forbidden tokens, minimum length.
#pragma once
#include "generate/decoder.h"

namespace tern {

struct ScoreRules {
  float repetition_penalty = 1;
  int64_t no_repeat = 0;               // n-grams of this size must not repeat; 0: no limit
  int64_t min_length = 0;              // shorter rows must not end; counts the prompt
  int64_t eos = -1;                    // token that ends a row; below 0: none
  std::vector<int64_t> allowed;        // 0: forbidden; per token of the vocabulary; empty: all are allowed
  std::vector<int64_t> first_allowed;  // the same per prompt and token, for the first step only
  void Apply(const std::vector<Tokens>& rows, int64_t batch, bool first_step, ScoreRows& scores) const;
};

// Reads the optional inputs repetition_penalty, min_length, vocab_mask and prefix_vocab_mask.
Result<ScoreRules> RulesOf(const DecoderAttrs& attrs, EvalContext& c);
// Return the one element of input `port`, or `otherwise` if the input is missing. Fail if the input has
// another size.
Result<int64_t> LongOf(EvalContext& c, const char* port, int64_t otherwise);
Result<double> DoubleOf(EvalContext& c, const char* port, double otherwise);

}  // namespace tern
