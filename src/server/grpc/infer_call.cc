#include "server/grpc/infer_call.h"

#include "server/access/access.h"
#include "server/core/injected_delay.h"
#include "server/grpc/grpc_connection.h"
#include "server/grpc/infer_request.h"
#include "server/grpc/infer_response.h"

namespace tern::server {

Status InferCall::Parse(InMessage message, ServerContext& context, uint64_t limit) {
  Status status = ReadMessage(std::move(message), context, limit);
  parsed_.store(true, std::memory_order_release);
  return status;
}

Status InferCall::ReadMessage(InMessage message, ServerContext& context, uint64_t limit) {
  InjectDelay(Phase::kParse);
  InferParseOptions options;
  options.shared_memory = visitor_.Has(Right::kSharedMemory) ? context.shared_memory : nullptr;
  options.tensors = context.limits.tensors;
  // A short message may stand for many values (one value for a whole tensor).
  options.bytes = std::min<uint64_t>(
      limit, std::max<uint64_t>(context.limits.body_bytes, uint64_t{8} * message.bytes.size()));
  InferMessage parsed;
  Status status = Decode(message.bytes, options, parsed);
  request = std::move(parsed.request);
  request.arrived = arrived_;
  request.trace = trace_;
  SetTenant(visitor_, request);
  if (request.timeout.count() == 0) request.timeout = timeout_;
  shared_ = std::move(parsed.shared);
  reservation_ = std::move(message.reservation);
  const bool found = model_ && model_name_ == parsed.model && version_ == parsed.version;
  model_name_ = parsed.model;
  version_ = parsed.version;
  if (!found) model_ = nullptr;
  // A client that must not use the model must not learn anything else about it.
  if (context.access) {
    const Refusal refusal = context.access->CheckModel(visitor_, model_name_);
    denied_ = refusal.refused();
    if (denied_) return InvalidArgument(refusal.message);
  }
  TERN_TRY(std::move(status));
  if (!reservation_.Add(context, parsed.converted)) return TooManyQueuedBytes(context, parsed.converted);
  if (context.draining) return Unavailable("Server exiting");
  if (!found) {
    TERN_ASSIGN(model_, FindModel(*context.models));
  }
  TERN_TRY(ForwardHeaders(headers_, forward_.get(), request));
  if (auto chosen = model_->Choose(request)) model_ = std::move(chosen);
  uint64_t converted = 0;
  TERN_TRY(Complete(*model_, converted));
  if (!reservation_.Add(context, converted)) return TooManyQueuedBytes(context, converted);
  if (context.observability) context.observability->OnInference(*this, *model_);
  return {};
}

void InferCall::TakeOrigin(GrpcStream& stream) {
  arrived_ = streaming_ ? stream.connection().now() : stream.arrived();
  trace_ = stream.metadata().trace;
  visitor_ = stream.visitor();
  if (!streaming_ && stream.timeout().count() > 0)
    timeout_ = std::chrono::ceil<std::chrono::microseconds>(stream.timeout());
  forward_ = stream.connection().shared().options.forward;
  if (forward_) headers_ = stream.headers();
}

// Finds the model before the message is parsed. If the model is overloaded, answers the call and returns
// true.
bool InferCall::RefuseEarly(const InMessage& message, ServerContext& context) {
  const RequestNames names = Peek(message.bytes);
  if (names.model.empty() || context.draining || !visitor_.PermitsModel(names.model)) return false;
  model_name_ = names.model;
  version_ = names.version;
  auto found = FindModel(*context.models);
  if (!found.ok()) return false;
  model_ = std::move(*found);
  request.id = names.id;
  request.arrived = arrived_;
  request.trace = trace_;
  SetTenant(visitor_, request);
  parsed_.store(true, std::memory_order_release);  // the answer needs no more than this
  if (model_->RefuseIfOverloaded(*this)) return true;
  parsed_.store(false, std::memory_order_release);
  return false;
}

// Other connections would wait while the loop converts or copies long tensors, so another thread does that.
Status InferCall::Submit(const std::shared_ptr<InferCall>& call, InMessage message, GrpcStream& stream) {
  call->TakeOrigin(stream);
  GrpcShared& shared = stream.connection().shared();
  if (call->RefuseEarly(message, shared.context)) return {};
  if (call->TakesLong(message.bytes)) {
    auto held = std::make_shared<InMessage>(std::move(message));
    return Post(call, stream, [call = call.get(), held, &shared] {
      return call->Parse(std::move(*held), shared.context, shared.limits.message);
    });
  }
  TERN_TRY(call->Parse(std::move(message), shared.context, shared.limits.message));
  if (call->shared_.input_bytes() > kMaxLoopBytes) return Post(call, stream, [] { return Status(); });
  TERN_TRY(call->shared_.ReadInputs(call->request));
  call->SubmitTo(call->model_);
  return {};
}

// The next message of the stream waits until the call is submitted, because requests must stay in order.
Status InferCall::Post(const std::shared_ptr<InferCall>& call, GrpcStream& stream,
                       std::function<Status()> parse) {
  const auto work = [call, parse = std::move(parse)] {
    const Status status = Guard([&] { return call->SubmitFromThread(parse); });
    call->replies_->Post([call, status](GrpcConnection& connection) {
      if (!status.ok()) connection.OnReply(call->ErrorReply(status));
      if (GrpcStream* found = connection.Find(call->stream_)) found->OnContinue();
    });
  };
  if (!stream.connection().shared().work.Post(work)) return ResourceExhausted("too many long requests wait");
  stream.Pause();
  return {};
}

Status InferCall::SubmitFromThread(const std::function<Status()>& parse) {
  TERN_TRY(parse());
  TERN_TRY(shared_.ReadInputs(request));
  SubmitTo(model_);
  return {};
}

// The final response of a decoupled model may have no outputs. A client gets it only if the request has
// empty_final.
bool InferCall::Hidden(const Response& response) const {
  return response.final && response.status.ok() && response.outputs.empty() && decoupled() &&
         !request.empty_final;
}

void InferCall::OnResponse(Response response) {
  if (response.status.ok()) shared_.WriteOutputs(response);
  if (response.final) {
    reservation_ = {};
    permit_.Release();
  }
  if (!streaming_ && !response.final) {
    held_ = std::make_unique<Response>(std::move(response));
    return;
  }
  if (held_ && response.status.ok() && response.outputs.empty()) {
    held_->final = true;
    response = std::move(*held_);
  }
  auto reply = Guard([&]() -> Result<Reply> { return MakeReply(response); });
  if (reply.ok()) return replies_->Deliver(std::move(*reply));
  Reply failed;  // the response could not be encoded, for example because there is no memory
  failed.stream = stream_;
  failed.call = number_;
  failed.status = GrpcStatus::Of(reply.status());
  replies_->Deliver(std::move(failed));
}

Status InferCall::Complete(const ModelVersion& model, uint64_t& /*converted*/) {
  if (streaming_ || !model.config().decoupled) return {};
  return Unsupported("ModelInfer RPC doesn't support models with decoupled transaction policy");
}

Result<OutMessage> InferCall::Encode(Response& response) const {
  return EncodeInferResponse({model_->config().name, model_->version(), request.id}, response);
}

Reply InferCall::MakeReply(Response& response) const {
  Reply reply;
  reply.stream = stream_;
  reply.call = number_;
  reply.final = response.final;
  reply.status = GrpcStatus::Of(response.status);
  if (response.timed_out) reply.status.code = GrpcCode::kDeadlineExceeded;
  if (denied_) reply.status.code = GrpcCode::kPermissionDenied;
  reply.status.retry_ms = response.retry_after.count();
  if (Hidden(response) || (!streaming_ && !response.status.ok())) return reply;
  const ResponseNames names = {model_ ? model_->config().name : model_name_,
                               model_ ? model_->version() : version_, request.id};
  auto message = streaming_ ? EncodeStreamResponse(names, response) : Encode(response);
  if (message.ok())
    reply.message = std::move(*message);
  else
    reply.status = GrpcStatus::Of(message.status());
  return reply;
}

Reply InferCall::ErrorReply(const Status& status) const {
  Response response;
  response.status = status;
  return MakeReply(response);
}

void InferCall::Describe(AccessRecord& record) const {
  if (!parsed_.load(std::memory_order_acquire)) return;
  record.model = model_name_;
  record.version = model_ ? std::string_view(model_->version()) : std::string_view(version_);
  record.request_id = request.id;
  if (model_ && finished()) record.times = &times;
}

}  // namespace tern::server
