#include "server/dialects/openai/completion_call.h"

#include <algorithm>
#include <random>
#include <utility>

#include "server/generate/template/chat_template.h"
#include "server/http/json_writer.h"

namespace tern::server {

// Passes the events of one sequence to the connection's loop.
class CompletionCall::Sink final : public GenerationSink {
 public:
  Sink(std::shared_ptr<CompletionCall> call, size_t index) : call_(std::move(call)), index_(index) {}
  void OnEvent(GenerationEvent event) override {
    const bool last = event.last();
    auto posted = std::make_shared<GenerationEvent>(std::move(event));
    const auto call = last ? std::exchange(call_, nullptr) : call_;
    if (!call) return;
    const auto loop = call->loop_;
    loop->Post([call, index = index_, posted] { call->OnEvent(index, std::move(*posted)); });
  }

 private:
  std::shared_ptr<CompletionCall>
      call_;  // until the last event: the call holds the sequence, which holds this
  const size_t index_;
};

CompletionCall::CompletionCall(HttpConnection& connection, bool chat)
    : chat_(chat),
      loop_(connection.link()),
      context_(connection.context()),
      connection_(connection.weak_from_this()),
      visitor_(connection.visitor()) {}

void CompletionCall::Describe(AccessRecord& record) const {
  const std::lock_guard lock(mutex_);
  if (!version_) return;
  record.model = version_->config().name;
  record.version = version_->version();
  if (!generations_.empty() && unfinished_ == 0) record.times = &generations_.back()->times;
}

void CompletionCall::Start(HttpConnection& connection, IncomingBody body) {
  auto shared_body = std::make_shared<IncomingBody>(std::move(body));
  if (!connection.shared().work.Post(
          [self = shared_from_this(), shared_body] { self->Prepare(std::move(*shared_body)); }))
    connection.Reply(*this, OpenAiError(ResourceExhausted("too many long requests wait")));
}

void CompletionCall::Refuse(HttpReply reply) {
  auto posted = std::make_shared<HttpReply>(std::move(reply));
  loop_->Post([self = shared_from_this(), this, posted] {
    if (const auto connection = connection_.lock()) connection->ReplyLater(*this, std::move(*posted));
    reservation_ = {};
    permit_.Release();
  });
}

void CompletionCall::Prepare(IncomingBody body) {
  if (auto refused = body.Decode(context_)) {
    refused->body = OpenAiErrorJson(InvalidArgument(refused->error));
    return Refuse(std::move(*refused));
  }
  reservation_ = std::move(body.reservation);
  RequestFault fault;
  const Status status = Guard([&]() -> Status {
    fault = Begin(body.text());
    return {};
  });
  if (!status.ok()) fault.status = status;
  if (fault.status.ok()) return;
  const bool unknown = fault.parameter == "model" && fault.status.code() == Code::kNotFound;
  Refuse(OpenAiError(fault.status, fault.parameter, unknown ? "model_not_found" : ""));
}

RequestFault CompletionCall::Begin(std::string_view body) {
  RequestFault fault = ReadCompletionRequest(body, chat_, context_.limits.json_depth, request_);
  if (!fault.status.ok()) return fault;
  if (Status found = FindModel(); !found.ok()) return {std::move(found), "model"};
  std::vector<std::vector<int64_t>> prompts;
  const std::string parameter = chat_ ? "messages" : "prompt";
  if (Status made = MakePrompts(prompts); !made.ok()) return {std::move(made), parameter};
  return {Submit(std::move(prompts)), {}};
}

Status CompletionCall::FindModel() {
  // A model that the client must not use looks like one that does not exist.
  auto found = visitor_.PermitsModel(request_.model)
                   ? context_.models->Find(request_.model)
                   : Result<std::shared_ptr<ModelVersion>>(NotFound("not permitted"));
  if (!found.ok())
    return Status(found.status().code() == Code::kUnavailable ? Code::kUnavailable : Code::kNotFound,
                  StrCat("The model `", request_.model, "` does not exist or is not loaded"));
  if ((*found)->placeholder()) return StillLoading(request_.model);
  if (!(*found)->generator())
    return InvalidArgument("The model `", request_.model,
                           "` does not generate text; GET /v1/models lists the models that this API can use");
  const std::lock_guard lock(mutex_);
  version_ = std::move(*found);
  generator_ = version_->generator();
  return {};
}

Result<std::string> CompletionCall::RenderChat() const {
  const GeneratorInfo& info = generator_->info();
  if (!info.chat) return Unsupported(info.no_chat, "; use /v1/completions");
  TemplateValue variables = TemplateValue::Object();
  if (request_.template_variables.is_object())
    for (const auto& [name, value] : request_.template_variables.members()) variables.Set(name, value);
  variables.Set("messages", request_.messages);
  variables.Set("add_generation_prompt", TemplateValue::Bool(request_.add_generation_prompt));
  variables.Set("bos_token", TemplateValue::Text(info.bos_text));
  variables.Set("eos_token", TemplateValue::Text(info.eos_text));
  auto text = info.chat->Render(variables);
  if (text.ok()) return text;
  return InvalidArgument("the model's chat template: ", text.status().message());
}

Status CompletionCall::MakePrompts(std::vector<std::vector<int64_t>>& prompts) {
  const data::Tokenizer& tokenizer = *generator_->info().tokenizer;
  if (chat_) {
    TERN_ASSIGN(const std::string text, RenderChat());
    TERN_ASSIGN(data::Encoding encoding, tokenizer.Encode(text, false));
    prompts.push_back(std::move(encoding.ids));
  }
  for (PromptInput& prompt : request_.prompts) {
    if (prompt.is_tokens) {
      prompts.push_back(std::move(prompt.tokens));
    } else {
      TERN_ASSIGN(data::Encoding encoding, tokenizer.Encode(prompt.text));
      prompts.push_back(std::move(encoding.ids));
    }
    if (!request_.echo) continue;
    std::string echo = prompt.text;
    if (prompt.is_tokens) {
      TERN_ASSIGN(echo, tokenizer.Decode(prompts.back()));
    }
    echoes_.push_back(std::move(echo));
  }
  for (const auto& prompt : prompts) usage_.prompt += static_cast<int64_t>(prompt.size());
  return {};
}

GenerationOptions CompletionCall::OptionsOf(const std::vector<int64_t>& prompt, int64_t choice) const {
  const GeneratorInfo& info = generator_->info();
  GenerationOptions options;
  SamplingOptions& s = options.sampling;
  s.temperature = request_.temperature.value_or(info.defaults.temperature);
  s.top_p = request_.top_p.value_or(info.defaults.top_p);
  s.top_k = request_.top_k.value_or(info.defaults.top_k);
  s.repetition_penalty = request_.repetition_penalty.value_or(info.defaults.repetition_penalty);
  s.presence_penalty = request_.presence_penalty;
  s.frequency_penalty = request_.frequency_penalty;
  s.bias = request_.bias;
  const uint64_t seed = request_.seed ? static_cast<uint64_t>(*request_.seed) : std::random_device()();
  s.seed = seed + static_cast<uint64_t>(choice) * 0x632be59bd9b4e019ULL;
  const int64_t room = info.context - static_cast<int64_t>(prompt.size());
  options.max_tokens = request_.max_tokens.value_or(chat_ ? std::max<int64_t>(1, room) : 16);
  options.stop = request_.stop;
  options.ignore_eos = request_.ignore_eos;
  options.logprobs = static_cast<int>(request_.logprobs);
  options.prompt_logprobs = request_.echo && request_.logprobs >= 0;
  if (request_.timeout)
    options.deadline = arrived + std::chrono::microseconds(static_cast<int64_t>(*request_.timeout * 1e6));
  return options;
}

// Refuses what the engine would refuse anyway, before every choice gets a copy of its prompt.
Status CompletionCall::CheckSizes(const std::vector<std::vector<int64_t>>& prompts) const {
  constexpr int64_t kMostSequences = 1024;
  const int64_t count = static_cast<int64_t>(prompts.size()) * request_.n;
  if (count > kMostSequences)
    return InvalidArgument("the request has ", count, " sequences, more than ", kMostSequences);
  const int64_t context = generator_->info().context;
  for (const auto& prompt : prompts)
    if (static_cast<int64_t>(prompt.size()) > context)
      return InvalidArgument("This model's maximum context length is ", context,
                             " tokens. However, the prompt has ", prompt.size(),
                             " tokens. Please reduce the length of the messages or the prompt.");
  return {};
}

Status CompletionCall::Submit(std::vector<std::vector<int64_t>> prompts) {
  TERN_TRY(CheckSizes(prompts));
  writer_.emplace(chat_, request_.model, request_.logprobs, request_.include_usage,
                  generator_->info().tokenizer);
  Generations generations;
  for (size_t p = 0; p < prompts.size(); ++p)
    for (int64_t i = 0; i < request_.n; ++i) {
      const size_t index = generations.size();
      auto generation = std::make_shared<Generation>();
      generation->options = OptionsOf(prompts[p], static_cast<int64_t>(index));
      generation->prompt = prompts[p];
      generation->arrived = arrived;
      generation->sink = std::make_shared<Sink>(shared_from_this(), index);
      generations.push_back(std::move(generation));
      ChoiceText& choice = choices_.emplace_back();
      choice.index = static_cast<int64_t>(index);
      choice.first = true;
      if (p < echoes_.size()) choice.text = echoes_[p];
    }
  unfinished_ = choices_.size();
  {
    const std::lock_guard lock(mutex_);
    if (abandoned_) return Status(Code::kCancelled, "the request was cancelled");
    generations_ = generations;
  }
  const Status started = generator_->Generate(generations);
  if (started.ok()) return started;
  const std::lock_guard lock(mutex_);
  generations_.clear();
  return started;
}

void CompletionCall::CancelAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& generation : generations_) generation->cancelled.store(true, std::memory_order_relaxed);
}

void CompletionCall::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  CancelAll();
}

}  // namespace tern::server
