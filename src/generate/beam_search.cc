// BeamSearch extends num_beams sequences per prompt with a decoder, token by token. Each step continues the
// most probable sequences. The algorithm is onnxruntime's algorithm for GPT-2, so that Tern returns the same
// sequences as onnxruntime.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "generate/generate.h"
#include "generate/score_rules.h"

namespace tern {
namespace {

struct Settings {
  int64_t max_length, beams, returned;
  float length_penalty;
};

Result<Settings> SettingsOf(EvalContext& c) {
  Settings s{};
  TERN_ASSIGN(s.max_length, LongOf(c, "max_length", 0));
  TERN_ASSIGN(s.beams, LongOf(c, "num_beams", 1));
  TERN_ASSIGN(s.returned, LongOf(c, "num_return_sequences", 1));
  TERN_ASSIGN(const double penalty, DoubleOf(c, "length_penalty", 1));
  s.length_penalty = static_cast<float>(penalty);
  if (s.max_length < 1 || s.max_length > kMaxSequence)
    return InvalidArgument("max_length is ", s.max_length, ", must be from 1 to ", kMaxSequence);
  if (s.beams < 1 || s.beams > kMaxBeams)
    return InvalidArgument("num_beams is ", s.beams, ", must be from 1 to ", kMaxBeams);
  if (s.returned < 1 || s.returned > s.beams)
    return InvalidArgument("num_return_sequences is ", s.returned, ", must be from 1 to num_beams, ",
                           s.beams);
  return s;
}

// Stores the best finished sequences of one prompt, best first. Sequences of equal score are in the order in
// which they were added.
class Hypotheses {
 public:
  Hypotheses(const Settings& settings) : settings_(settings) {}  // NOLINT
  bool done = false;

  void Add(const Tokens& tokens, float sum) {
    const float score = Normalized(sum, tokens.size());
    const auto at = std::find_if(best_.begin(), best_.end(), [&](const auto& k) { return score > k.score; });
    best_.insert(at, {tokens, score});
    if (Size() > settings_.beams) best_.pop_back();
  }
  bool Full() const { return Size() >= settings_.beams; }
  // Returns whether a sequence of `length` tokens would replace the worst stored sequence. `best_sum` is the
  // sum of its log-probabilities.
  bool CanImprove(float best_sum, size_t length) const {
    return best_.back().score < Normalized(best_sum, length);
  }

  struct Entry {
    Tokens tokens;
    float score;
  };
  const std::vector<Entry>& best() const { return best_; }

 private:
  int64_t Size() const { return static_cast<int64_t>(best_.size()); }
  float Normalized(float sum, size_t length) const {
    return sum / std::pow(static_cast<float>(length), settings_.length_penalty);
  }
  const Settings& settings_;
  std::vector<Entry> best_;
};

void LogSoftmax(std::vector<float>& row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (float v : row) sum += std::exp(v - top);
  const double shift = top + std::log(sum);
  for (float& v : row) v = static_cast<float>(v - shift);
}

struct Candidate {
  float score;
  size_t beam;
  int32_t token;
};

class Search {
 public:
  Search(const BeamSearchAttrs& op, const Settings& settings, const ScoreRules& rules, Decoder& decoder)
      : op_(op),
        settings_(settings),
        rules_(rules),
        decoder_(decoder),
        beams_(static_cast<size_t>(settings.beams)) {
    for (int64_t b = 0; b < decoder.batch(); ++b) found_.emplace_back(settings_);
    // All beams of a prompt start with the same tokens, so the first step would choose the same token for
    // every beam. Therefore the sum -1e9 excludes all beams but the first from this step.
    for (size_t r = 0; r < decoder.rows().size(); ++r) sums_.push_back(r % beams_ ? -1e9f : 0.0f);
  }

  // If `steps` is not null, appends the scores of each step to *steps.
  Status Run(std::vector<float>* steps) {
    bool first = true;
    ScoreRows scores;
    while (decoder_.length() < settings_.max_length) {
      TERN_TRY(decoder_.Step(scores));
      for (auto& row : scores) LogSoftmax(row);
      TERN_TRY(rules_.Apply(decoder_.rows(), decoder_.batch(), first, scores));
      for (size_t r = 0; r < scores.size(); ++r)
        for (float& v : scores[r]) v += sums_[r];
      for (size_t r = 0; steps && r < scores.size(); ++r)
        steps->insert(steps->end(), scores[r].begin(), scores[r].end());
      TERN_TRY(Choose(scores));
      if (std::all_of(found_.begin(), found_.end(), [](const Hypotheses& h) { return h.done; })) break;
      first = false;
    }
    for (size_t r = 0; r < sums_.size(); ++r)
      if (!found_[r / beams_].done) found_[r / beams_].Add(decoder_.rows()[r], sums_[r]);
    return {};
  }

  const std::vector<Hypotheses>& found() const { return found_; }

 private:
  // Returns the 2 * beams_ best next tokens over all beams of prompt `sample`. Among equal scores, the lower
  // beam wins, then the lower token.
  std::vector<Candidate> Best(const ScoreRows& scores, size_t sample) const {
    const size_t vocabulary = scores[0].size(), count = 2 * beams_;
    std::vector<size_t> order(beams_ * vocabulary);
    std::iota(order.begin(), order.end(), size_t{0});
    const auto score = [&](size_t i) { return scores[sample * beams_ + i / vocabulary][i % vocabulary]; };
    const auto better = [&](size_t a, size_t b) {
      return score(a) > score(b) || (score(a) == score(b) && a < b);
    };
    const size_t taken = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(taken), order.end(), better);
    std::vector<Candidate> best;
    for (size_t i = 0; i < taken; ++i)
      best.push_back({score(order[i]), order[i] / vocabulary, static_cast<int32_t>(order[i] % vocabulary)});
    return best;
  }

  Status Choose(const ScoreRows& scores) {
    Tokens tokens;
    std::vector<size_t> parents;
    std::vector<float> all;  // scores of the candidates [prompt][2 * beams]
    std::vector<std::vector<Candidate>> best;
    for (size_t b = 0; b < found_.size(); ++b) {
      best.push_back(Best(scores, b));
      if (best.back().size() != 2 * beams_)
        return InvalidModel("a vocabulary of ", scores[0].size(), " tokens is too small for ", beams_,
                            " beams");
      for (const Candidate& c : best.back()) all.push_back(c.score);
    }
    std::vector<float> sums;
    for (size_t b = 0; b < found_.size(); ++b) {
      if (found_[b].done) {
        tokens.insert(tokens.end(), beams_, static_cast<int32_t>(op_.pad));
        parents.insert(parents.end(), beams_, 0);
        sums.insert(sums.end(), beams_, 0.0f);
        continue;
      }
      TERN_TRY(Continue(b, best[b], tokens, parents, sums));
      // The candidates of prompt b start at all[b * 2 * beams_], but onnxruntime reads from all[b * beams_].
      // This code repeats the mistake, so that Tern's search ends at the same step.
      const auto from = all.begin() + static_cast<int64_t>(b * beams_);
      const float top = *std::max_element(from, from + static_cast<int64_t>(2 * beams_));
      const auto length = static_cast<size_t>(decoder_.length());
      if (found_[b].Full() && (op_.early_stopping || !found_[b].CanImprove(top, length)))
        found_[b].done = true;
    }
    sums_ = std::move(sums);
    return decoder_.Append(tokens, parents);
  }

  // Chooses the best beams_ candidates of prompt b whose token is not eos, and appends them to `tokens`,
  // `parents` and `sums`. A candidate with the token eos is a finished sequence if it is among the first
  // beams_ candidates; otherwise it is dropped.
  Status Continue(size_t b, const std::vector<Candidate>& best, Tokens& tokens, std::vector<size_t>& parents,
                  std::vector<float>& sums) {
    size_t taken = 0;
    for (size_t i = 0; i < best.size() && taken < beams_; ++i) {
      const size_t row = b * beams_ + best[i].beam;
      if (op_.eos >= 0 && best[i].token == op_.eos) {
        if (i < beams_) found_[b].Add(decoder_.rows()[row], best[i].score);
        continue;
      }
      tokens.push_back(best[i].token);
      parents.push_back(row);
      sums.push_back(best[i].score);
      ++taken;
    }
    if (taken < beams_)
      return InvalidArgument("prompt ", b, ": only ", taken, " of ", beams_, " beams can be extended");
    return {};
  }

  const BeamSearchAttrs& op_;
  const Settings& settings_;
  const ScoreRules& rules_;
  Decoder& decoder_;
  const size_t beams_;
  std::vector<Hypotheses> found_;
  std::vector<float> sums_;
};

}  // namespace

Status RunBeamSearch(const BeamSearchAttrs& op, EvalContext& c) {
  TERN_ASSIGN(const Settings settings, SettingsOf(c));
  TERN_ASSIGN(const ScoreRules rules, RulesOf(op, c));
  TERN_ASSIGN(Decoder decoder, Decoder::Start(op, c, settings.beams, settings.max_length));
  std::vector<float> steps;
  const bool all = c.Wants("scores");
  Search search(op, settings, rules, decoder);
  TERN_TRY(search.Run(all ? &steps : nullptr));
  const int64_t batch = decoder.batch();
  std::vector<int64_t> sequences(static_cast<size_t>(batch * settings.returned * settings.max_length),
                                 op.pad);
  std::vector<double> scores;
  for (size_t b = 0; b < search.found().size(); ++b)
    for (size_t k = 0; k < static_cast<size_t>(settings.returned); ++k) {
      const auto& entry = search.found()[b].best()[k];
      const size_t offset =
          (b * static_cast<size_t>(settings.returned) + k) * static_cast<size_t>(settings.max_length);
      std::copy(entry.tokens.begin(), entry.tokens.end(), sequences.begin() + static_cast<int64_t>(offset));
      scores.push_back(entry.score);
    }
  Tensor out(c.In("input_ids").dtype(), {batch, settings.returned, settings.max_length});
  FromLongs(sequences, out);
  c.SetOut("sequences", out);
  if (c.Wants("sequences_scores"))
    c.SetOut("sequences_scores", Tensor::Of(DType::kF32, {batch, settings.returned}, scores));
  if (!all) return {};
  const int64_t rounds = settings.max_length - decoder.prompt_length(), rows = batch * settings.beams;
  const int64_t vocabulary = steps.empty() ? std::max<int64_t>(op.words, 0)
                                           : static_cast<int64_t>(steps.size()) / rows /
                                                 (decoder.length() - decoder.prompt_length());
  Tensor step_scores(DType::kF32, {rounds, batch, settings.beams, vocabulary});
  std::copy(steps.begin(), steps.end(), step_scores.data<float>());
  c.SetOut("scores", step_scores);
  return {};
}

}  // namespace tern
