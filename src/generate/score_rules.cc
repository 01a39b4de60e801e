#include "generate/score_rules.h"

#include <algorithm>
#include <limits>
#include <set>

namespace tern {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

void Penalize(float penalty, const Tokens& row, std::vector<float>& scores) {
  for (int32_t w : std::set<int32_t>(row.begin(), row.end())) {
    if (w < 0 || static_cast<size_t>(w) >= scores.size()) continue;
    float& s = scores[static_cast<size_t>(w)];
    s = s < 0 ? s * penalty : s / penalty;
  }
}

// Forbids each token that would complete an n-gram which the row already contains. Example: with n = 2 and
// the row {5, 7, 5}, it forbids 7.
void BlockRepeats(int64_t n, const Tokens& row, std::vector<float>& scores) {
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t j = 0; j + n <= length; ++j) {
    const int32_t w = row[static_cast<size_t>(j + n - 1)];
    if (w >= 0 && static_cast<size_t>(w) < scores.size() &&
        std::equal(row.end() - (n - 1), row.end(), row.begin() + j))
      scores[static_cast<size_t>(w)] = kLowest;
  }
}

void Forbid(const int64_t* allowed, std::vector<float>& scores) {
  for (size_t w = 0; w < scores.size(); ++w)
    if (allowed[w] == 0) scores[w] = kLowest;
}

Result<std::vector<int64_t>> MaskOf(EvalContext& c, const char* port, int64_t rank, const char* dims) {
  const Tensor& t = c.In(port);
  if (t.rank() == rank && t.size() > 0) return c.Longs(port);
  return InvalidArgument(port, " must be ", dims, " and not empty, got ", t.Describe());
}

}  // namespace

Status ScoreRules::CheckMasks(size_t batch, size_t vocabulary) const {
  if (!allowed.empty() && allowed.size() < vocabulary)
    return InvalidArgument("vocab_mask has ", allowed.size(), " elements, but the vocabulary has ",
                           vocabulary, " tokens");
  if (first_allowed.empty()) return {};
  const size_t prompts = first_allowed.size() / first_width;
  if (prompts != batch || first_width < vocabulary)
    return InvalidArgument("prefix_vocab_mask is [", prompts, ",", first_width, "], but there are ", batch,
                           " prompts and the vocabulary has ", vocabulary, " tokens");
  return {};
}

Status ScoreRules::Apply(const std::vector<Tokens>& rows, int64_t batch, bool first_step,
                         ScoreRows& scores) const {
  TERN_TRY(CheckMasks(static_cast<size_t>(batch), scores[0].size()));
  const size_t copies = rows.size() / static_cast<size_t>(batch);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<float>& s = scores[r];
    if (repetition_penalty != 1) Penalize(repetition_penalty, rows[r], s);
    if (no_repeat > 0) BlockRepeats(no_repeat, rows[r], s);
    if (!allowed.empty()) Forbid(allowed.data(), s);
    if (first_step && !first_allowed.empty()) Forbid(first_allowed.data() + r / copies * first_width, s);
    const bool ends = eos >= 0 && static_cast<size_t>(eos) < s.size();
    if (ends && static_cast<int64_t>(rows[r].size()) < min_length) s[static_cast<size_t>(eos)] = kLowest;
  }
  return {};
}

Result<int64_t> LongOf(EvalContext& c, const char* port, int64_t otherwise) {
  if (!c.Has(port)) return otherwise;
  if (c.In(port).size() != 1)
    return InvalidArgument("input '", port, "' must have one element, got ", c.In(port).Describe());
  return LoadLong(c.In(port), 0);
}

Result<double> DoubleOf(EvalContext& c, const char* port, double otherwise) {
  if (!c.Has(port)) return otherwise;
  if (c.In(port).size() != 1)
    return InvalidArgument("input '", port, "' must have one element, got ", c.In(port).Describe());
  return LoadDouble(c.In(port), 0);
}

Result<ScoreRules> RulesOf(const DecoderAttrs& attrs, EvalContext& c) {
  ScoreRules rules;
  rules.no_repeat = attrs.no_repeat;
  rules.eos = attrs.eos;
  TERN_ASSIGN(const double penalty, DoubleOf(c, "repetition_penalty", 1));
  if (!(penalty > 0)) return InvalidArgument("repetition_penalty is ", penalty, ", must be positive");
  rules.repetition_penalty = static_cast<float>(penalty);
  TERN_ASSIGN(rules.min_length, LongOf(c, "min_length", 0));
  if (c.Has("vocab_mask")) {
    TERN_ASSIGN(rules.allowed, MaskOf(c, "vocab_mask", 1, "[vocabulary]"));
  }
  if (c.Has("prefix_vocab_mask")) {
    TERN_ASSIGN(rules.first_allowed, MaskOf(c, "prefix_vocab_mask", 2, "[batch, vocabulary]"));
    rules.first_width = static_cast<size_t>(c.In("prefix_vocab_mask").dim(1));
  }
  return rules;
}

}  // namespace tern
