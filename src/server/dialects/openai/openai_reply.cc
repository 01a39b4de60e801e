#include "server/dialects/openai/openai_reply.h"

#include <algorithm>
#include <random>
#include <set>

#include "server/http/json_writer.h"

namespace tern::server {
namespace {

int64_t UnixTime() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string NewId(const char* prefix) {
  std::random_device random;
  std::string id = prefix;
  for (int i = 0; i < 3; ++i) {
    uint32_t bits = random();
    for (int k = 0; k < 8; ++k, bits >>= 4) id += "0123456789abcdef"[bits & 15];
  }
  return id;
}

const char* ErrorType(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "service_unavailable_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

// kUnsupported becomes 400 and not 501, because OpenAI's clients would retry after 501.
int OpenAiStatus(Code code) { return code == Code::kUnsupported ? 400 : HttpStatus(code); }

void AppendText(std::string& out, std::string_view key, std::string_view value) {
  AppendJsonKey(out, key);
  if (value.empty())
    out += "null";
  else
    AppendJson(out, value);
}

const char* FinishText(FinishReason reason) {
  return reason == FinishReason::kStop ? "\"stop\"" : reason == FinishReason::kLength ? "\"length\"" : "null";
}

void AppendUsage(std::string& out, const TokenUsage& usage) {
  AppendJsonKey(out, "usage");
  out += "{\"prompt_tokens\":";
  AppendJsonNumber(out, usage.prompt);
  out += ",\"completion_tokens\":";
  AppendJsonNumber(out, usage.completion);
  out += ",\"total_tokens\":";
  AppendJsonNumber(out, usage.prompt + usage.completion);
  out += '}';
}

// JSON has no infinity. OpenAI writes -9999 for a token that is practically impossible.
void AppendLogprob(std::string& out, float logprob) { AppendJsonNumber(out, std::max(logprob, -9999.0F)); }

size_t CodePoints(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string OpenAiErrorJson(const Status& status, std::string_view parameter, std::string_view code) {
  std::string out = "{\"error\":{\"message\":";
  AppendJson(out, status.message());
  AppendJsonKey(out, "type");
  AppendJson(out, ErrorType(OpenAiStatus(status.code())));
  AppendText(out, "param", parameter);
  AppendText(out, "code", code);
  return out + "}}";
}

HttpReply OpenAiError(const Status& status, std::string_view parameter, std::string_view code) {
  HttpReply reply = ErrorReply(status);  // shortens the message, and says when to try again
  reply.status = OpenAiStatus(status.code());
  reply.body = OpenAiErrorJson(Status(status.code(), reply.error), parameter, code);
  return reply;
}

CompletionWriter::CompletionWriter(bool chat, std::string model, int64_t logprobs, bool include_usage,
                                   std::shared_ptr<const data::Tokenizer> tokenizer)
    : chat_(chat),
      model_(std::move(model)),
      id_(NewId(chat ? "chatcmpl-" : "cmpl-")),
      created_(UnixTime()),
      logprobs_(logprobs),
      include_usage_(include_usage),
      tokenizer_(std::move(tokenizer)) {}

void CompletionWriter::Head(std::string& out, bool chunk) const {
  out += "{\"id\":";
  AppendJson(out, id_);
  out += ",\"object\":";
  out += !chat_ ? "\"text_completion\"" : chunk ? "\"chat.completion.chunk\"" : "\"chat.completion\"";
  out += ",\"created\":";
  AppendJsonNumber(out, created_);
  out += ",\"model\":";
  AppendJson(out, model_);
  out += ",\"system_fingerprint\":null";
}

std::string CompletionWriter::TextOf(int64_t token) const {
  auto text = tokenizer_->Decode({token}, false);
  return text.ok() ? std::move(*text) : std::string();
}

size_t CompletionWriter::Characters(const std::vector<TokenLogprob>& logprobs) const {
  size_t sum = 0;
  for (const TokenLogprob& token : logprobs) sum += CodePoints(TextOf(token.token.id));
  return sum;
}

void CompletionWriter::ChatToken(std::string& out, const TokenChoice& choice) const {
  const std::string text = TextOf(choice.id);
  out += "{\"token\":";
  AppendJson(out, text);
  out += ",\"logprob\":";
  AppendLogprob(out, choice.logprob);
  out += ",\"bytes\":[";
  for (const char c : text) {
    if (out.back() != '[') out += ',';
    AppendJsonNumber(out, uint64_t{static_cast<unsigned char>(c)});
  }
  out += ']';
}

void CompletionWriter::ChatLogprobs(std::string& out, const ChoiceText& choice) const {
  out += "{\"content\":[";
  for (const TokenLogprob& token : choice.logprobs) {
    if (out.back() != '[') out += ',';
    ChatToken(out, token.token);
    out += ",\"top_logprobs\":[";
    for (const TokenChoice& other : token.top) {
      if (out.back() != '[') out += ',';
      ChatToken(out, other);
      out += '}';
    }
    out += "]}";
  }
  out += "],\"refusal\":null}";
}

void CompletionWriter::TextLogprobs(std::string& out, const ChoiceText& choice) const {
  std::string tokens, values, tops, offsets;
  size_t offset = choice.text_offset;
  for (const TokenLogprob& token : choice.logprobs) {
    const char* comma = tokens.empty() ? "" : ",";
    const std::string text = TextOf(token.token.id);
    tokens += comma, values += comma, tops += comma, offsets += comma;
    AppendJson(tokens, text);
    AppendJsonNumber(offsets, uint64_t{offset});
    offset += CodePoints(text);
    if (!token.known) {
      values += "null", tops += "null";
      continue;
    }
    AppendLogprob(values, token.token.logprob);
    tops += '{';
    std::set<std::string> names;  // tokens that are only a part of a character have the same text
    for (const TokenChoice& other : token.top) {
      const std::string name = TextOf(other.id);
      if (!names.insert(name).second) continue;
      AppendJsonKey(tops, name);
      AppendLogprob(tops, other.logprob);
    }
    tops += '}';
  }
  out += "{\"tokens\":[" + tokens + "],\"token_logprobs\":[" + values + "],\"top_logprobs\":[" + tops +
         "],\"text_offset\":[" + offsets + "]}";
}

void CompletionWriter::Choice(std::string& out, const ChoiceText& choice, bool chunk) const {
  out += "{\"index\":";
  AppendJsonNumber(out, choice.index);
  if (!chat_) {
    out += ",\"text\":";
    AppendJson(out, choice.text);
  } else if (!chunk) {
    out += ",\"message\":{\"role\":\"assistant\",\"content\":";
    AppendJson(out, choice.text);
    out += ",\"refusal\":null}";
  } else {
    out += ",\"delta\":{";
    if (choice.first) out += "\"role\":\"assistant\"";
    if (choice.first || !choice.text.empty()) {
      AppendJsonKey(out, "content");
      AppendJson(out, choice.text);
    }
    out += '}';
  }
  AppendJsonKey(out, "logprobs");
  if (logprobs_ < 0 || (chunk && choice.logprobs.empty()))
    out += "null";
  else if (chat_)
    ChatLogprobs(out, choice);
  else
    TextLogprobs(out, choice);
  AppendJsonKey(out, "finish_reason");
  out += FinishText(choice.finish);
  out += '}';
}

std::string CompletionWriter::Whole(const std::vector<ChoiceText>& choices, const TokenUsage& usage) const {
  std::string out;
  Head(out, false);
  out += ",\"choices\":[";
  for (const ChoiceText& choice : choices) {
    if (out.back() != '[') out += ',';
    Choice(out, choice, false);
  }
  out += ']';
  AppendUsage(out, usage);
  return out + "}";
}

std::string CompletionWriter::Event(const ChoiceText& choice) const {
  std::string out = "data: ";
  Head(out, true);
  out += ",\"choices\":[";
  Choice(out, choice, true);
  out += include_usage_ ? "],\"usage\":null}\n\n" : "]}\n\n";
  return out;
}

std::string CompletionWriter::UsageEvent(const TokenUsage& usage) const {
  std::string out = "data: ";
  Head(out, true);
  out += ",\"choices\":[]";
  AppendUsage(out, usage);
  return out + "}\n\n";
}

}  // namespace tern::server
