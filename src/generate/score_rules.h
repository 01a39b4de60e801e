// What is done to scores before words are chosen.
#pragma once
#include "generate/decoder.h"

namespace tern {

struct ScoreRules {
  float repetition_penalty = 1;
  int64_t no_repeat = 0, min_length = 0, eos = -1;
  std::vector<int64_t> allowed;        // per word; empty: all
  std::vector<int64_t> first_allowed;  // per sample and word, for the first step only; empty: all
  void Apply(const std::vector<Words>& rows, int64_t batch, bool first_step, ScoreRows& scores) const;
};

// Reads the optional inputs of that name: repetition_penalty, min_length, vocab_mask, prefix_vocab_mask.
Result<ScoreRules> RulesOf(const DecoderAttrs& attrs, EvalContext& c);
// One integer, or one number.
Result<int64_t> LongOf(EvalContext& c, const char* port, int64_t otherwise);
Result<double> DoubleOf(EvalContext& c, const char* port, double otherwise);

}  // namespace tern
