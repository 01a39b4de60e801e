#include "server/dialects/openai/completion_request.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "server/dialects/openai/request_reader.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

// Members that say nothing about the completion.
constexpr std::string_view kIgnored[] = {"user",         "metadata",          "store",
                                         "service_tier", "safety_identifier", "prompt_cache_key",
                                         "verbosity",    "reasoning_effort",  "parallel_tool_calls"};
// Members that would change the completion in a way that the server cannot do. null, false and empty lists
// ask for nothing.
constexpr std::string_view kUnsupported[] = {
    "tools", "tool_choice", "functions",  "function_call", "suffix",
    "audio", "modalities",  "prediction", "best_of",       "web_search_options"};

class CompletionReader {
 public:
  CompletionReader(std::string_view body, bool chat, int depth, CompletionRequest& request)
      : reader_(body, depth), chat_(chat), request_(request) {}

  RequestFault Run() {
    Status status = reader_.Object([this](std::string_view key) { return Member(std::string(key)); });
    if (status.ok()) status = Check();
    return {status, status.ok() ? std::string() : reader_.member()};
  }

 private:
  Status Member(const std::string& key) {
    if (reader_.TakeNull()) return {};
    if (key == "model") return reader_.Text(request_.model);
    if (key == "n") return reader_.Integer(1, kMaxChoices, request_.n);
    if (key == "stream") return reader_.Bool(request_.stream);
    if (key == "stream_options") return StreamOptions();
    if (key == "stop") return Stop();
    if (key == "logit_bias") return Bias();
    if (key == "max_tokens" || key == "max_completion_tokens")
      return reader_.Optional(chat_ ? 1 : 0, INT32_MAX, request_.max_tokens);
    if (key == "timeout") return reader_.Optional(1e-3, 86'400, request_.timeout);
    if (key == "ignore_eos") return reader_.Bool(request_.ignore_eos);
    if (chat_ && key == "messages") return Messages();
    if (!chat_ && key == "prompt") return Prompts();
    const auto [known, status] = Sampling(key);
    if (known) return status;
    return chat_ ? ChatMember(key) : CompletionMember(key);
  }

  std::pair<bool, Status> Sampling(const std::string& key) {
    if (key == "temperature") return {true, reader_.Optional(0, 2, request_.temperature)};
    if (key == "top_p") return {true, reader_.Optional(0, 1, request_.top_p)};
    if (key == "top_k") return {true, TopK()};
    if (key == "seed") return {true, reader_.Optional(INT64_MIN, INT64_MAX, request_.seed)};
    if (key == "presence_penalty") return {true, reader_.Number(-2, 2, request_.presence_penalty)};
    if (key == "frequency_penalty") return {true, reader_.Number(-2, 2, request_.frequency_penalty)};
    if (key == "repetition_penalty") return {true, reader_.Optional(1e-3, 1e3, request_.repetition_penalty)};
    return {false, {}};
  }

  // vLLM writes -1 for all tokens.
  Status TopK() {
    TERN_TRY(reader_.Optional(-1, INT64_MAX, request_.top_k));
    request_.top_k = std::max<int64_t>(0, *request_.top_k);
    return {};
  }

  Status ChatMember(const std::string& key) {
    if (key == "logprobs") return reader_.Bool(logprobs_);
    if (key == "top_logprobs") return reader_.Integer(0, 20, top_logprobs_);
    if (key == "add_generation_prompt") return reader_.Bool(request_.add_generation_prompt);
    if (key == "chat_template_kwargs") {
      TERN_TRY(reader_.Any(request_.template_variables));
      return request_.template_variables.is_object() ? Status() : reader_.Must("an object");
    }
    if (key == "response_format") {
      TemplateValue format;
      TERN_TRY(reader_.Any(format));
      const std::string type = format.Member("type").ToText();
      return type == "text"
                 ? Status()
                 : Unsupported("response_format of type '", type, "' is not supported; use 'text'");
    }
    return Other(key);
  }

  Status CompletionMember(const std::string& key) {
    if (key == "echo") return reader_.Bool(request_.echo);
    if (key == "logprobs") return reader_.Integer(0, 20, request_.logprobs);
    return Other(key);
  }

  Status Other(const std::string& key) {
    TemplateValue value;
    TERN_TRY(reader_.Any(value));
    const auto in = [&](const auto& list) {
      return std::find(std::begin(list), std::end(list), key) != std::end(list);
    };
    if (in(kIgnored)) return {};
    if (!in(kUnsupported)) return InvalidArgument("Unrecognized request argument supplied: ", key);
    const bool nothing = !value.truth() || value.ToText() == "none" || value.ToText() == "['text']" ||
                         (key == "best_of" && value.is_int() && value.integer() == 1);
    return nothing ? Status() : Unsupported("'", key, "' is not supported by this server");
  }

  Status StreamOptions() {
    TemplateValue options;
    TERN_TRY(reader_.Any(options));
    if (!options.is_object()) return reader_.Must("an object");
    request_.include_usage = options.Member("include_usage").truth();
    return {};
  }

  Status Stop() {
    const auto add = [this]() -> Status {
      TERN_TRY(reader_.Text(request_.stop.emplace_back()));
      if (request_.stop.size() > 16) return reader_.Must("at most 16 strings");
      return request_.stop.back().empty() || request_.stop.back().size() > 1024
                 ? reader_.Must("strings of 1 to 1024 bytes")
                 : Status();
    };
    return reader_.Peek() == Kind::kArray ? reader_.Array(add) : add();
  }

  Status Bias() {
    TemplateValue bias;
    TERN_TRY(reader_.Any(bias));
    if (!bias.is_object()) return reader_.Must("an object of token ids and numbers");
    for (const auto& [key, value] : bias.members()) {
      int64_t token = 0;
      if (!ParseInt(key, token) || !value.is_number() || std::abs(value.number()) > 100)
        return reader_.Must("an object of token ids and numbers from -100 to 100");
      request_.bias.emplace_back(token, static_cast<float>(value.number()));
    }
    return {};
  }

  // A text, a list of texts, a list of tokens, or a list of lists of tokens.
  Status Prompts() {
    if (reader_.Peek() == Kind::kString) return reader_.Text(request_.prompts.emplace_back().text);
    return reader_.PromptList(kMaxPrompts, request_.prompts);
  }

  Status Messages() {
    TERN_TRY(reader_.Any(request_.messages));
    if (!request_.messages.is_list() || request_.messages.list().empty())
      return reader_.Must("a list of at least one message");
    for (TemplateValue& message : request_.messages.list()) TERN_TRY(Message(message));
    return {};
  }

  // Templates expect a text, so the text parts of a content are joined.
  Status Message(const TemplateValue& message) {
    if (!message.is_object() || !message.Member("role").is_text())
      return reader_.Must("a list of objects with a role");
    const TemplateValue content = message.Member("content");
    if (content.is_text() || content.null() || content.undefined()) return {};
    if (!content.is_list()) return reader_.Must("a list of messages whose content is a string");
    std::vector<std::string> texts;
    for (const TemplateValue& part : content.list()) {
      const std::string type = part.Member("type").ToText();
      if (type != "text" && type != "input_text")
        return Unsupported("a content part of type '", type, "' is not supported; use 'text'");
      if (!part.Member("text").is_text()) return reader_.Must("messages whose text parts have a text");
      texts.push_back(part.Member("text").text());
    }
    message.Set("content", TemplateValue::Text(Join(texts, "\n")));
    return {};
  }

  Status Check() {
    reader_.SetMember("model");
    if (request_.model.empty()) return InvalidArgument("you must provide a model parameter");
    reader_.SetMember(chat_ ? "messages" : "prompt");
    if (chat_ ? request_.messages.undefined() : request_.prompts.empty())
      return InvalidArgument("you must provide a ", reader_.member(), " parameter");
    reader_.SetMember("top_logprobs");
    if (chat_ && top_logprobs_ > 0 && !logprobs_)
      return InvalidArgument("'top_logprobs' needs 'logprobs' to be true");
    if (chat_ && logprobs_) request_.logprobs = top_logprobs_;
    reader_.SetMember("max_tokens");
    if (!chat_ && request_.max_tokens == 0 && !request_.echo)
      return InvalidArgument("max_tokens must be at least 1, unless echo is true");
    reader_.SetMember("stream");
    if (request_.include_usage && !request_.stream)
      return InvalidArgument("'stream_options' needs 'stream' to be true");
    return {};
  }

  RequestReader reader_;
  const bool chat_;
  CompletionRequest& request_;
  bool logprobs_ = false;
  int64_t top_logprobs_ = 0;
};

}  // namespace

RequestFault ReadCompletionRequest(std::string_view body, bool chat, int depth, CompletionRequest& request) {
  return CompletionReader(body, chat, depth, request).Run();
}

}  // namespace tern::server
