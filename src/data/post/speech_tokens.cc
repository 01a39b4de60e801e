#include "data/post/speech_tokens.h"

#include <algorithm>
#include <cmath>

namespace tern::data {
namespace {

void Forbid(std::vector<float>& logits, int64_t first, int64_t end) {
  first = std::max<int64_t>(first, 0);
  end = std::min(end, static_cast<int64_t>(logits.size()));
  if (first < end) std::fill(logits.begin() + first, logits.begin() + end, -INFINITY);
}

Status ForbidList(const std::vector<int64_t>& list, std::vector<float>& logits) {
  for (const int64_t token : list) {
    if (token < 0 || token >= static_cast<int64_t>(logits.size()))
      return InvalidArgument("token ", token, " to suppress is not one of ", logits.size());
    Forbid(logits, token, token + 1);
  }
  return {};
}

// Timestamps come in pairs, the end of a segment and the start of the next one, and do not decrease.
void ForbidByHistory(const SpeechTokens& rules, const std::vector<int64_t>& tokens,
                     std::vector<float>& logits) {
  const auto size = static_cast<int64_t>(logits.size());
  const auto is_time = [&](size_t back) { return tokens[tokens.size() - back] >= rules.first_timestamp; };
  const bool last = !tokens.empty() && is_time(1), before = tokens.size() < 2 || is_time(2);
  if (last && before) Forbid(logits, rules.first_timestamp, size);
  if (last && !before) Forbid(logits, 0, rules.end_of_text);
  const auto latest =
      std::find_if(tokens.rbegin(), tokens.rend(), [&](int64_t t) { return t >= rules.first_timestamp; });
  if (latest == tokens.rend()) return;
  Forbid(logits, rules.first_timestamp, last && !before ? *latest : *latest + 1);
}

// Forces a timestamp if all timestamps together are more probable than every text token.
void PreferTimestamps(const SpeechTokens& rules, std::vector<float>& logits) {
  const auto text_end =
      logits.begin() + std::min<int64_t>(rules.first_timestamp, static_cast<int64_t>(logits.size()));
  if (text_end == logits.begin() || text_end == logits.end()) return;
  const double text = *std::max_element(logits.begin(), text_end),
               time = *std::max_element(text_end, logits.end());
  if (time == -INFINITY) return;
  double total = 0;
  for (auto it = text_end; it != logits.end(); ++it) total += std::exp(*it - time);
  if (time + std::log(total) > text) Forbid(logits, 0, rules.first_timestamp);
}

}  // namespace

Status ApplySpeechRules(const SpeechTokens& rules, const std::vector<int64_t>& tokens, bool timestamps,
                        std::vector<float>& logits) {
  const auto size = static_cast<int64_t>(logits.size());
  if (rules.end_of_text < 0 || rules.end_of_text >= size)
    return InvalidArgument("the end of text, token ", rules.end_of_text, ", is not one of ", size);
  TERN_TRY(ForbidList(rules.suppress, logits));
  if (tokens.empty()) TERN_TRY(ForbidList(rules.suppress_at_begin, logits));
  if (!timestamps) return {};
  if (rules.first_timestamp < 0 || rules.first_timestamp >= size)
    return InvalidArgument("the first timestamp, token ", rules.first_timestamp, ", is not one of ", size);
  Forbid(logits, rules.no_timestamps, rules.no_timestamps + 1);
  ForbidByHistory(rules, tokens, logits);
  if (tokens.empty()) {
    Forbid(logits, 0, rules.first_timestamp);
    if (rules.largest_first_step >= 0)
      Forbid(logits, rules.first_timestamp + rules.largest_first_step + 1, size);
  }
  PreferTimestamps(rules, logits);
  return {};
}

std::vector<SpeechSegment> SplitSpeech(const SpeechTokens& rules, const std::vector<int64_t>& tokens,
                                       double offset) {
  std::vector<SpeechSegment> out;
  SpeechSegment open;
  const auto close = [&] {
    if (!open.tokens.empty()) out.push_back(std::move(open));
    open = {};
  };
  for (const int64_t token : tokens) {
    if (token == rules.end_of_text) break;
    if (token < rules.first_timestamp) {
      open.tokens.push_back(token);
      continue;
    }
    const double time = offset + static_cast<double>(token - rules.first_timestamp) * rules.seconds_per_step;
    if (open.tokens.empty()) {
      open.start = time;
      continue;
    }
    open.end = time;
    close();
  }
  close();
  return out;
}

}  // namespace tern::data
