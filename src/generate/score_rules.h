// Adjusts the scores of a step before the search chooses tokens. Applies the repetition penalty, forbids
// tokens, and enforces the minimum length.
#pragma once
#include "generate/decoder.h"

namespace tern {

struct ScoreRules {
  float repetition_penalty = 1;
  int64_t no_repeat = 0;               // if not 0, a row must not contain an n-gram of this size twice
  int64_t min_length = 0;              // a row with fewer tokens, including the prompt, must not end
  int64_t eos = -1;                    // the token that ends a row; negative if there is none
  std::vector<int64_t> allowed;        // [token]: 0 forbids the token; if empty, all tokens are allowed
  std::vector<int64_t> first_allowed;  // [prompt][token]: as `allowed`, for the first step only
  size_t first_width = 0;              // number of tokens per prompt in first_allowed
  // Adjusts scores[r][token] for each row r of `rows`. `batch` is the number of prompts. Each prompt has
  // rows.size() / batch adjacent rows. Fails if a mask has too few tokens or another number of prompts.
  Status Apply(const std::vector<Tokens>& rows, int64_t batch, bool first_step, ScoreRows& scores) const;

 private:
  Status CheckMasks(size_t batch, size_t vocabulary) const;
};

// Reads the optional inputs repetition_penalty, min_length, vocab_mask and prefix_vocab_mask. A mask may have
// more tokens than the vocabulary.
Result<ScoreRules> RulesOf(const DecoderAttrs& attrs, EvalContext& c);
// Return the only element of input `port`, or `otherwise` if the input is missing. Fail if the input has zero
// or several elements.
Result<int64_t> LongOf(EvalContext& c, const char* port, int64_t otherwise);
Result<double> DoubleOf(EvalContext& c, const char* port, double otherwise);

}  // namespace tern
