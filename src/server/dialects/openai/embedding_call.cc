#include "server/dialects/openai/embedding_call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "server/cache/cached_model.h"
#include "server/http/base64.h"
#include "server/http/json_writer.h"
#include "server/pipeline/wire.h"

namespace tern::server {

// A run of the model.
class EmbeddingCall::ModelCall final : public Call {
 public:
  explicit ModelCall(std::shared_ptr<EmbeddingCall> owner) : owner_(std::move(owner)) {}

 private:
  void OnResponse(Response response) override {
    if (!response.final) return;
    const auto owner = std::exchange(owner_, nullptr);
    owner->OnResponse(std::move(response));
  }
  std::shared_ptr<EmbeddingCall> owner_;  // until the last response: the owner holds this call
};

// The next run, which waits for a worker thread. If it is dropped, because the server stops, the request
// fails.
class EmbeddingCall::QueuedRun {
 public:
  explicit QueuedRun(std::shared_ptr<EmbeddingCall> owner) : owner_(std::move(owner)) {}
  ~QueuedRun() {
    if (owner_) owner_->Answer(OpenAiError(Unavailable("the server is stopping")));
  }
  QueuedRun(const QueuedRun&) = delete;
  QueuedRun& operator=(const QueuedRun&) = delete;
  void Run() {
    const auto owner = std::exchange(owner_, nullptr);
    const Status status = Guard([&] { return owner->Submit(); });
    if (!status.ok()) owner->Answer(OpenAiError(status));
  }

 private:
  std::shared_ptr<EmbeddingCall> owner_;
};

std::shared_ptr<PipelineModel> EmbedderOf(const std::shared_ptr<ModelVersion>& version) {
  const auto behind = version->behind();  // during a rollout, the stable version makes the embeddings
  const std::shared_ptr<ModelVersion> one = behind ? behind : version;
  const auto cached = std::dynamic_pointer_cast<CachedModel>(one);
  auto model = std::dynamic_pointer_cast<PipelineModel>(cached ? cached->model() : one);
  if (!model) return nullptr;
  const pipeline::Binding& binding = model->parts().steps->binding();
  if (binding.inputs.size() != 1 || binding.outputs.size() != 1 || binding.frames ||
      binding.inputs[0].kind != pipeline::BoundInput::Kind::kTokens)
    return nullptr;
  const TensorConfig* output = model->config().FindOutput(binding.outputs[0].spec.name);
  const bool vector = output && output->dtype == DType::kF32 && output->dims.size() == 2;
  return vector && !binding.outputs[0].spec.Find<pipeline::SoftmaxStep>() ? model : nullptr;
}

EmbeddingCall::EmbeddingCall(HttpConnection& connection)
    : loop_(connection.link()),
      context_(connection.context()),
      connection_(connection.weak_from_this()),
      visitor_(connection.visitor()) {}

void EmbeddingCall::Describe(AccessRecord& record) const {
  const std::lock_guard lock(mutex_);
  if (!model_) return;
  record.model = model_->config().name;
  record.version = model_->version();
}

void EmbeddingCall::Start(HttpConnection& connection, IncomingBody body) {
  auto shared_body = std::make_shared<IncomingBody>(std::move(body));
  if (!connection.shared().work.Post(
          [self = shared_from_this(), shared_body] { self->Prepare(std::move(*shared_body)); }))
    connection.Reply(*this, OpenAiError(ResourceExhausted("too many long requests wait")));
}

void EmbeddingCall::Abandon() {
  std::shared_ptr<Call> running;
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    running = running_;
  }
  if (running) running->Cancel();
}

void EmbeddingCall::Answer(HttpReply reply) {
  CompressReply(accept, reply);
  auto posted = std::make_shared<HttpReply>(std::move(reply));
  loop_->Post([self = shared_from_this(), this, posted] {
    if (const auto connection = connection_.lock()) connection->ReplyLater(*this, std::move(*posted));
    reservation_ = {};
    permit_.Release();
  });
}

void EmbeddingCall::Prepare(IncomingBody body) {
  if (auto refused = body.Decode(context_)) {
    refused->body = OpenAiErrorJson(InvalidArgument(refused->error));
    return Answer(std::move(*refused));
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
  Answer(OpenAiError(fault.status, fault.parameter, unknown ? "model_not_found" : ""));
}

RequestFault EmbeddingCall::Begin(std::string_view body) {
  RequestFault fault = ReadEmbeddingRequest(body, context_.limits.json_depth, request_);
  if (!fault.status.ok()) return fault;
  if (Status found = FindModel(); !found.ok()) return {std::move(found), "model"};
  if (Status made = Tokenize(); !made.ok()) return {std::move(made), "input"};
  return {Submit(), {}};
}

Status EmbeddingCall::FindModel() {
  // A model that the client must not use looks like one that does not exist.
  auto found = visitor_.PermitsModel(request_.model)
                   ? context_.models->Find(request_.model)
                   : Result<std::shared_ptr<ModelVersion>>(NotFound("not permitted"));
  if (!found.ok())
    return Status(found.status().code() == Code::kUnavailable ? Code::kUnavailable : Code::kNotFound,
                  StrCat("The model `", request_.model, "` does not exist or is not loaded"));
  if ((*found)->placeholder()) return StillLoading(request_.model);
  auto model = EmbedderOf(*found);
  if (!model)
    return InvalidArgument(
        "The model `", request_.model,
        "` does not make embeddings: it needs a pipeline that makes one vector of one text");
  tokenizer_ = model->parts().steps->readers()[0]->tokenizer();
  const std::lock_guard lock(mutex_);
  model_ = std::move(model);
  return {};
}

Status EmbeddingCall::Tokenize() {
  const pipeline::BoundInput& input = model_->parts().steps->binding().inputs[0];
  const bool special = input.spec.Find<pipeline::TokenizeStep>()->special_tokens;
  TERN_ASSIGN(const auto unpadded, tokenizer_->With(tokenizer_->truncation(), std::nullopt));
  const auto& truncation = tokenizer_->truncation();
  for (const PromptInput& prompt : request_.inputs) {
    Row row;
    if (prompt.is_tokens) {
      row.ids = prompt.tokens;
      if (truncation && row.ids.size() > truncation->max_length)
        return InvalidArgument("an input has ", row.ids.size(), " tokens; the model takes at most ",
                               truncation->max_length);
      for (const int64_t token : row.ids)
        if (!tokenizer_->IdToToken(token))
          return InvalidArgument("token ", token, " is not in the vocabulary");
      row.types.assign(row.ids.size(), 0);
    } else {
      TERN_ASSIGN(data::Encoding encoding, unpadded->Encode(prompt.text, special));
      row.ids = std::move(encoding.ids), row.types = std::move(encoding.type_ids);
    }
    if (row.ids.empty()) return InvalidArgument("an input has no tokens");
    row.mask.assign(row.ids.size(), 1);
    tokens_ += static_cast<int64_t>(row.ids.size());
    rows_.push_back(std::move(row));
  }
  return {};
}

// Makes an input from the rows [next_, next_ + count), with padding.
Result<WireTensor> EmbeddingCall::MakeInput(const std::string& name, size_t count, Values values) const {
  const TensorConfig* config = model_->parts().prepared->config().FindInput(name);
  if (!config || (config->dtype != DType::kI64 && config->dtype != DType::kI32))
    return Unsupported("input '", name, "' of the model is not INT64 or INT32");
  const data::Padding padding = tokenizer_->padding().value_or(data::Padding());
  size_t width = 0;
  for (size_t i = 0; i < count; ++i) width = std::max(width, rows_[next_ + i].ids.size());
  if (padding.fixed_length) width = std::max(width, *padding.fixed_length);
  const int64_t fill = values == &Row::ids ? padding.id : values == &Row::types ? padding.type_id : 0;
  Tensor tensor(config->dtype, {static_cast<int64_t>(count), static_cast<int64_t>(width)});
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> row = rows_[next_ + i].*values;
    row.insert(padding.side == data::Side::kLeft ? row.begin() : row.end(), width - row.size(), fill);
    for (size_t k = 0; k < width; ++k) StoreLong(tensor, static_cast<int64_t>(i * width + k), row[k]);
  }
  return ToWire(name, tensor);
}

Status EmbeddingCall::Submit() {
  const pipeline::BoundInput& input = model_->parts().steps->binding().inputs[0];
  const int batch = model_->parts().prepared->config().max_batch_size;
  running_rows_ = std::min<size_t>(rows_.size() - next_, static_cast<size_t>(std::max(1, batch)));
  const auto call = std::make_shared<ModelCall>(shared_from_this());
  call->request.arrived = arrived;
  call->request.trace = trace;
  SetTenant(visitor_, call->request);
  const std::pair<std::string, Values> sources[] = {
      {input.tensor, &Row::ids}, {input.mask, &Row::mask}, {input.type_ids, &Row::types}};
  for (const auto& [name, values] : sources) {
    if (name.empty()) continue;
    TERN_ASSIGN(WireTensor tensor, MakeInput(name, running_rows_, values));
    call->request.inputs.push_back(std::move(tensor));
  }
  {
    const std::lock_guard lock(mutex_);
    if (abandoned_) return Status(Code::kCancelled, "the request was cancelled");
    running_ = call;
  }
  model_->parts().prepared->Submit(call);
  return {};
}

// Runs on the thread that ran the model.
void EmbeddingCall::OnResponse(Response response) {
  Status status = response.status;
  if (status.ok()) status = Guard([&] { return Take(response); });
  if (!status.ok()) {
    HttpReply reply = OpenAiError(status);
    if (response.retry_after.count() > 0) reply.retry_after = response.retry_after;
    return Answer(std::move(reply));
  }
  next_ += running_rows_;
  if (next_ < rows_.size()) {
    const auto queued = std::make_shared<QueuedRun>(shared_from_this());
    static_cast<void>(model_->parts().workers->Post([queued] { queued->Run(); }));
    return;
  }
  HttpReply reply = JsonReply(Json());
  reply.compress = true;
  Answer(std::move(reply));
}

Status EmbeddingCall::Take(const Response& response) {
  const std::string& name = model_->parts().steps->binding().outputs[0].result;
  const auto found = std::find_if(response.outputs.begin(), response.outputs.end(),
                                  [&](const WireTensor& t) { return t.name == name; });
  if (found == response.outputs.end() || found->dtype != DType::kF32 || found->dims.size() != 2 ||
      found->dims[0] != static_cast<int64_t>(running_rows_) || (size_ > 0 && found->dims[1] != size_))
    return Status(Code::kInternal, "the model did not make one vector per text");
  size_ = found->dims[1];
  const size_t before = vectors_.size();
  vectors_.resize(before + found->bytes.size() / sizeof(float));
  std::memcpy(vectors_.data() + before, found->bytes.data(), found->bytes.size());
  return {};
}

std::string EmbeddingCall::Json() const {
  std::string out = "{\"object\":\"list\",\"data\":[";
  const auto size = static_cast<size_t>(size_);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (i) out += ',';
    out += "{\"object\":\"embedding\",\"index\":";
    AppendJsonNumber(out, uint64_t{i});
    out += ",\"embedding\":";
    const float* vector = vectors_.data() + i * size;
    if (request_.base64) {
      out += '"' + EncodeBase64({reinterpret_cast<const char*>(vector), size * sizeof(float)}) + '"';
    } else {
      out += '[';
      for (size_t k = 0; k < size; ++k) {
        if (k) out += ',';
        AppendJsonNumber(out, vector[k]);
      }
      out += ']';
    }
    out += '}';
  }
  out += "],\"model\":";
  AppendJson(out, request_.model);
  out += ",\"usage\":{\"prompt_tokens\":";
  AppendJsonNumber(out, tokens_);
  out += ",\"total_tokens\":";
  AppendJsonNumber(out, tokens_);
  return out + "}}";
}

}  // namespace tern::server
