#include "server/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tern::server {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// SplitMix64 (Steele, Lea, Flood).
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

double LogSumExp(const float* scores, int64_t count, float largest) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(scores[i] - largest);
  return std::log(sum) + largest;
}

}  // namespace

int64_t LargestScore(const float* scores, int64_t count) {
  constexpr int64_t kLanes = 16;
  float top[kLanes];
  float sum[kLanes] = {};  // NaN if a score is NaN
  std::fill(top, top + kLanes, kLowest);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float score = scores[i + lane];
      top[lane] = score > top[lane] ? score : top[lane];
      sum[lane] += score == score ? 0 : score;
    }
  for (; i < count; ++i) {
    top[0] = scores[i] > top[0] ? scores[i] : top[0];
    sum[0] += scores[i] == scores[i] ? 0 : scores[i];
  }
  if (std::any_of(sum, sum + kLanes, [](float s) { return std::isnan(s); })) return -1;
  const float largest = *std::max_element(top, top + kLanes);
  if (largest == kLowest) return -1;
  return std::find(scores, scores + count, largest) - scores;
}

TokenLogprob LogprobOf(const float* scores, int64_t vocabulary, int64_t token, int count) {
  TokenLogprob out;
  const int64_t best = LargestScore(scores, vocabulary);
  const double norm = best < 0 ? 0 : LogSumExp(scores, vocabulary, scores[best]);
  const auto choice = [&](int64_t id) { return TokenChoice{id, static_cast<float>(scores[id] - norm)}; };
  out.token = choice(token);
  if (count <= 0) return out;
  std::vector<int64_t> ids(static_cast<size_t>(vocabulary));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  const auto most = ids.begin() + std::min<int64_t>(count, vocabulary);
  std::partial_sort(ids.begin(), most, ids.end(), [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  for (auto id = ids.begin(); id != most; ++id) out.top.push_back(choice(*id));
  return out;
}

Sampler::Sampler(const SamplingOptions& options, const std::vector<int64_t>& prompt)
    : options_(options), random_(Mix(options.seed + 0x9e3779b97f4a7c15ULL)) {
  if (options.repetition_penalty != 1)
    for (const int64_t token : prompt) seen_[token] = true;
}

double Sampler::Uniform() {
  random_ += 0x9e3779b97f4a7c15ULL;
  return static_cast<double>(Mix(random_) >> 11) * 0x1p-53;
}

void Sampler::Adjust() {
  const auto in_range = [&](int64_t token) {
    return token >= 0 && token < static_cast<int64_t>(scores_.size());
  };
  const auto repetition = static_cast<float>(options_.repetition_penalty);
  for (const auto& [token, unused] : seen_) {
    if (!in_range(token)) continue;
    float& score = scores_[static_cast<size_t>(token)];
    score = score < 0 ? score * repetition : score / repetition;
  }
  if (options_.presence_penalty != 0 || options_.frequency_penalty != 0)
    for (const auto& [token, times] : generated_)
      if (in_range(token))
        scores_[static_cast<size_t>(token)] -= static_cast<float>(
            options_.presence_penalty + options_.frequency_penalty * static_cast<double>(times));
  for (const auto& [token, bias] : options_.bias)
    if (in_range(token)) scores_[static_cast<size_t>(token)] += bias;
}

// Draws from the tokens that top_k and top_p leave. Tokens of equal score are ordered by id, so that a seed
// gives the same text again.
int64_t Sampler::Draw() {
  const auto count = static_cast<int64_t>(scores_.size());
  const float largest = scores_[static_cast<size_t>(LargestScore(scores_.data(), count))];
  const double factor = 1 / options_.temperature;
  const auto weight = [&](int64_t id) {
    return std::exp((static_cast<double>(scores_[static_cast<size_t>(id)]) - largest) * factor);
  };
  const bool limited = options_.top_p < 1 || (options_.top_k > 0 && options_.top_k < count);
  candidates_.clear();
  // A token whose weight is less than e^-30 times the largest weight is practically never among those of
  // top_p. So most of the vocabulary is not sorted.
  const double least = limited ? -30 / factor : -std::numeric_limits<double>::infinity();
  for (int64_t id = 0; id < count; ++id)
    if (static_cast<double>(scores_[static_cast<size_t>(id)]) - largest >= least &&
        scores_[static_cast<size_t>(id)] != kLowest)
      candidates_.push_back(id);
  if (limited) {
    const auto before = [&](int64_t a, int64_t b) {
      const float x = scores_[static_cast<size_t>(a)], y = scores_[static_cast<size_t>(b)];
      return x != y ? x > y : a < b;
    };
    size_t kept = candidates_.size();
    if (options_.top_k > 0) kept = std::min(kept, static_cast<size_t>(options_.top_k));
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept),
                      candidates_.end(), before);
    candidates_.resize(kept);
    double sum = 0, reached = 0;
    for (const int64_t id : candidates_) sum += weight(id);
    size_t used = 0;
    while (used < candidates_.size() && (used == 0 || reached < options_.top_p * sum))
      reached += weight(candidates_[used++]);
    candidates_.resize(used);
  }
  double sum = 0;
  for (const int64_t id : candidates_) sum += weight(id);
  double at = Uniform() * sum;
  for (const int64_t id : candidates_) {
    at -= weight(id);
    if (at < 0) return id;
  }
  return candidates_.back();
}

Result<int64_t> Sampler::Choose(const float* scores, int64_t vocabulary) {
  const bool changed = options_.presence_penalty != 0 || options_.frequency_penalty != 0 ||
                       options_.repetition_penalty != 1 || !options_.bias.empty();
  const bool greedy = options_.temperature < 1e-5;  // 1 / temperature must be finite
  int64_t token = LargestScore(scores, vocabulary);
  if (token < 0 || !std::isfinite(scores[token]))
    return Status(Code::kInternal, "the model's scores of the next token are not finite numbers");
  if (changed || !greedy) {
    scores_.assign(scores, scores + vocabulary);
    if (changed) Adjust();
    token = LargestScore(scores_.data(), vocabulary);
    if (token < 0) return InvalidArgument("logit_bias and the penalties leave no token");
    if (!greedy) token = Draw();
  }
  ++generated_[token];
  if (options_.repetition_penalty != 1) seen_[token] = true;
  return token;
}

}  // namespace tern::server
