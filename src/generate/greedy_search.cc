// GreedySearch generates one sequence per prompt. Each step applies the rules and appends the token with the
// highest score. From the step that chooses `eos` on, it appends `pad` instead.
#include <algorithm>
#include <numeric>

#include "generate/generate.h"
#include "generate/score_rules.h"

namespace tern {

Status RunGreedySearch(const GreedySearchAttrs& op, EvalContext& c) {
  TERN_ASSIGN(const int64_t max_length, LongOf(c, "max_length", 0));
  if (max_length < 1 || max_length > kMaxSequence)
    return InvalidArgument("max_length is ", max_length, ", must be from 1 to ", kMaxSequence);
  TERN_ASSIGN(const ScoreRules rules, RulesOf(op, c));
  TERN_ASSIGN(Decoder decoder, Decoder::Start(op, c, 1, max_length));
  std::vector<char> ended(decoder.rows().size(), 0);
  std::vector<size_t> same(ended.size());
  std::iota(same.begin(), same.end(), size_t{0});
  bool first = true;
  ScoreRows scores;
  Tokens tokens(ended.size());
  while (decoder.length() < max_length &&
         !std::all_of(ended.begin(), ended.end(), [](char e) { return e; })) {
    TERN_TRY(decoder.Step(scores));
    TERN_TRY(rules.Apply(decoder.rows(), decoder.batch(), first, scores));
    for (size_t r = 0; r < scores.size(); ++r) {
      const int64_t best = std::max_element(scores[r].begin(), scores[r].end()) - scores[r].begin();
      if (best == op.eos) ended[r] = 1;
      tokens[r] = static_cast<int32_t>(ended[r] ? op.pad : best);
    }
    TERN_TRY(decoder.Append(tokens, same));
    first = false;
  }
  Tensor out(c.In("input_ids").dtype(), {decoder.batch(), max_length});
  for (int64_t i = 0; i < out.size(); ++i) StoreLong(out, i, op.pad);
  for (size_t r = 0; r < ended.size(); ++r)
    for (size_t i = 0; i < decoder.rows()[r].size(); ++i)
      StoreLong(out, static_cast<int64_t>(r) * max_length + static_cast<int64_t>(i), decoder.rows()[r][i]);
  c.SetOut("sequences", out);
  return {};
}

}  // namespace tern
