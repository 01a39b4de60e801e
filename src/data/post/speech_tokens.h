// The rules of Whisper-style decoders: which tokens may follow, and the meaning of timestamps. Pure functions
// of token ids and logits.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"

namespace tern::data {

struct SpeechTokens {
  int64_t end_of_text = 50257;
  int64_t no_timestamps = 50363;
  int64_t first_timestamp = 50364;  // <|0.00|>; all larger tokens are timestamps
  double seconds_per_step = 0.02;
  int64_t largest_first_step = 50;         // the first timestamp is at most 1 s; negative: no limit
  std::vector<int64_t> suppress;           // never generated
  std::vector<int64_t> suppress_at_begin;  // not generated as the first token
};

// Sets the logits of the tokens that are not allowed after `tokens` to minus infinity. `tokens` are the
// tokens generated after the prompt. If `timestamps` is true, the first token must be a timestamp, and
// timestamps come in pairs and do not decrease. A timestamp is forced if all timestamps together are more
// probable than every text token. Fails if a token of `rules` is outside of the vocabulary.
Status ApplySpeechRules(const SpeechTokens& rules, const std::vector<int64_t>& tokens, bool timestamps,
                        std::vector<float>& logits);

struct SpeechSegment {
  std::optional<double> start, end;  // in seconds; empty if there is no timestamp
  std::vector<int64_t> tokens;       // without timestamps
};
// Splits generated tokens at timestamps. Segments without text are left out. `offset` is added to all times.
// Stops at the end of the text.
std::vector<SpeechSegment> SplitSpeech(const SpeechTokens& rules, const std::vector<int64_t>& tokens,
                                       double offset);

}  // namespace tern::data
