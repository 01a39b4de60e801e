// One sequence that a language model generates, and the events that it makes. A front end creates it; the
// engine answers it.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/core/call.h"

namespace tern::server {

struct SamplingOptions {
  double temperature = 1;  // 0: the most probable token
  double top_p = 1;
  int64_t top_k = 0;  // 0: all tokens
  double presence_penalty = 0, frequency_penalty = 0, repetition_penalty = 1;
  uint64_t seed = 0;
  std::vector<std::pair<int64_t, float>> bias;  // added to the scores of tokens
};

struct GenerationOptions {
  SamplingOptions sampling;
  int64_t max_tokens = 16;
  std::vector<std::string> stop;  // texts that end the sequence; they are not part of it
  bool ignore_eos = false;
  int logprobs = -1;             // number of alternatives per token; -1: no probabilities
  bool prompt_logprobs = false;  // also those of the prompt, in the first event
  Clock::time_point deadline = Clock::time_point::max();
};

struct TokenChoice {
  int64_t id = 0;
  float logprob = 0;
};

struct TokenLogprob {
  TokenChoice token;
  bool known = true;  // false for the first token of a prompt
  std::vector<TokenChoice> top;
};

enum class FinishReason { kNone, kStop, kLength };

struct GenerationEvent {
  std::string text;                    // text since the last event
  std::vector<TokenLogprob> logprobs;  // of the tokens since the last event
  int64_t generated = 0;               // tokens so far
  FinishReason finish = FinishReason::kNone;
  Status status;  // an error ends the sequence
  bool last() const { return finish != FinishReason::kNone || !status.ok(); }
};

class GenerationSink {
 public:
  virtual ~GenerationSink() = default;
  // Called on the thread that runs or ends the engine, with exactly one last event. Must not block.
  virtual void OnEvent(GenerationEvent event) = 0;
};

struct Generation {
  std::vector<int64_t> prompt;
  GenerationOptions options;
  std::shared_ptr<GenerationSink> sink;
  Clock::time_point arrived;
  CallTimes times;                     // complete in the last event
  std::atomic<bool> cancelled{false};  // the engine ends the sequence at the next token
};
using Generations = std::vector<std::shared_ptr<Generation>>;

}  // namespace tern::server
