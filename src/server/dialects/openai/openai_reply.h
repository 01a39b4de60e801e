// Writes replies, events and errors in OpenAI's form.
#pragma once
#include <string>

#include "data/tokenizer/tokenizer.h"
#include "server/generate/generation.h"
#include "server/http/reply.h"

namespace tern::server {

// {"error": {"message": …, "type": …, "param": …, "code": …}}
HttpReply OpenAiError(const Status& status, std::string_view parameter = {}, std::string_view code = {});
std::string OpenAiErrorJson(const Status& status, std::string_view parameter = {},
                            std::string_view code = {});

// The error for a model whose old version is unloaded and whose new version is not loaded yet.
inline Status StillLoading(const std::string& model) {
  return Unavailable("The model `", model, "` is being loaded");
}

// One completion of a reply, or what an event adds to one.
struct ChoiceText {
  int64_t index = 0;
  std::string text;
  std::vector<TokenLogprob> logprobs;
  FinishReason finish = FinishReason::kNone;
  bool first = false;      // chat: the event begins the message
  size_t text_offset = 0;  // completions: of the first token of `logprobs`, in characters
};

struct TokenUsage {
  int64_t prompt = 0, completion = 0;
};

// Writes the replies to one request.
class CompletionWriter {
 public:
  // `logprobs` is that of the request; see CompletionRequest.
  CompletionWriter(bool chat, std::string model, int64_t logprobs, bool include_usage,
                   std::shared_ptr<const data::Tokenizer> tokenizer);

  std::string Whole(const std::vector<ChoiceText>& choices, const TokenUsage& usage) const;
  std::string Event(const ChoiceText& choice) const;  // a server-sent event
  std::string UsageEvent(const TokenUsage& usage) const;
  // Returns the number of characters of the text of these tokens.
  size_t Characters(const std::vector<TokenLogprob>& logprobs) const;

 private:
  void Head(std::string& out, bool chunk) const;
  void Choice(std::string& out, const ChoiceText& choice, bool chunk) const;
  void ChatLogprobs(std::string& out, const ChoiceText& choice) const;
  void TextLogprobs(std::string& out, const ChoiceText& choice) const;
  void ChatToken(std::string& out, const TokenChoice& choice) const;
  std::string TextOf(int64_t token) const;

  const bool chat_;
  const std::string model_, id_;
  const int64_t created_, logprobs_;
  const bool include_usage_;
  const std::shared_ptr<const data::Tokenizer> tokenizer_;
};

}  // namespace tern::server
