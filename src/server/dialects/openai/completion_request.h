// Reads the bodies of POST /v1/completions, /v1/chat/completions and /v1/embeddings.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "server/generate/generation.h"
#include "server/generate/template/value.h"

namespace tern::server {

struct PromptInput {
  std::string text;
  std::vector<int64_t> tokens;  // used if is_tokens
  bool is_tokens = false;
};

// Empty optional members are missing in the request. The model's defaults replace them.
struct CompletionRequest {
  std::string model;
  std::vector<PromptInput> prompts;  // completions
  TemplateValue messages;            // chat: a list of objects whose content is a text or null
  TemplateValue template_variables;  // chat: an object
  bool add_generation_prompt = true;
  std::optional<int64_t> max_tokens, seed, top_k;
  std::optional<double> temperature, top_p, repetition_penalty;
  double presence_penalty = 0, frequency_penalty = 0;
  std::vector<std::pair<int64_t, float>> bias;
  std::vector<std::string> stop;
  int64_t n = 1;
  int64_t logprobs = -1;  // number of alternatives per token; -1: no probabilities
  bool stream = false, include_usage = false, echo = false, ignore_eos = false;
  std::optional<double> timeout;  // seconds
};

// Why a request is refused.
struct RequestFault {
  Status status;
  std::string parameter;  // the member of the request; may be empty
};

inline constexpr int64_t kMaxPrompts = 256, kMaxChoices = 128;

// `depth` limits the nesting of the JSON. Returns a fault with an error, or one whose status is ok.
RequestFault ReadCompletionRequest(std::string_view body, bool chat, int depth, CompletionRequest& request);

struct EmbeddingRequest {
  std::string model;
  std::vector<PromptInput> inputs;
  bool base64 = false;
};
inline constexpr int64_t kMaxEmbeddings = 2048;

// Returns a fault with an error, or one whose status is ok.
RequestFault ReadEmbeddingRequest(std::string_view body, int depth, EmbeddingRequest& request);

}  // namespace tern::server
