#include "server/grpc/infer_call.h"

#include "server/grpc/grpc_connection.h"
#include "server/grpc/infer_request.h"
#include "server/grpc/infer_response.h"
#include "server/grpc/message_compression.h"

namespace tern::server {

Status InferCall::Parse(InMessage message, GrpcStream& stream) {
  ServerContext& context = stream.connection().context();
  InferParseOptions options;
  options.shared_memory = context.shared_memory;
  options.tensors = context.limits.tensors;
  options.bytes = stream.connection().shared().limits.message;
  InferMessage parsed;
  Status status = ParseInferRequest(message.bytes, options, parsed);
  request = std::move(parsed.request);
  shared_ = std::move(parsed.shared);
  reservation_ = std::move(message.reservation);
  model_name_ = parsed.model;
  version_ = parsed.version;
  TERN_TRY(std::move(status));
  if (!reservation_.Add(context, parsed.converted)) return TooManyQueuedBytes(context, parsed.converted);
  if (context.draining) return Unavailable("Server exiting");
  TERN_ASSIGN(model_, context.models->Find(model_name_, version_));
  if (!streaming_ && decoupled())
    return Unsupported("ModelInfer RPC doesn't support models with decoupled transaction policy");
  return {};
}

Status InferCall::Submit(const std::shared_ptr<InferCall>& call, InMessage message, GrpcStream& stream) {
  TERN_TRY(call->Parse(std::move(message), stream));
  Request& request = call->request;
  request.arrived = call->streaming_ ? stream.connection().now() : stream.arrived();
  request.trace = stream.metadata().trace;
  TERN_TRY(ForwardHeaders(stream.headers(), stream.connection().shared().options.forward.get(), request));
  const auto timeout = stream.timeout();
  if (!call->streaming_ && timeout.count() > 0 && request.timeout.count() == 0)
    request.timeout = std::chrono::ceil<std::chrono::microseconds>(timeout);
  GrpcShared& shared = stream.connection().shared();
  if (stream.metadata().accepts_gzip) call->compression_ = shared.options.response_compression;
  // Other connections would wait for the copy of long tensors. The requests of a stream stay in order.
  if (!call->streaming_ && call->shared_.input_bytes() > kMaxLoopBytes) {
    if (shared.work.Post([call] { call->SubmitFromThread(); })) return {};
    return ResourceExhausted("too many long requests wait");
  }
  TERN_TRY(call->shared_.ReadInputs(request));
  ModelVersion& model = *call->model_;
  model.Submit(call);
  return {};
}

void InferCall::SubmitFromThread() {
  const Status status = Guard([&] { return shared_.ReadInputs(request); });
  if (!status.ok()) return replies_->Deliver(ErrorReply(status));
  model_->Submit(shared_from_this());
}

// The final response of a decoupled model may have no outputs. A client gets it only if the request has
// empty_final.
bool InferCall::Hidden(const Response& response) const {
  return response.final && response.status.ok() && response.outputs.empty() && decoupled() &&
         !request.empty_final;
}

void InferCall::OnResponse(Response response) {
  if (response.status.ok()) shared_.WriteOutputs(response);
  if (response.final) reservation_ = {};
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

Reply InferCall::MakeReply(const Response& response) const {
  Reply reply;
  reply.stream = stream_;
  reply.call = number_;
  reply.final = response.final;
  reply.status = GrpcStatus::Of(response.status);
  reply.status.retry_ms = response.retry_after.count();
  if (Hidden(response) || (!streaming_ && !response.status.ok())) return reply;
  const ResponseNames names = {model_ ? model_->config().name : model_name_,
                               model_ ? model_->version() : version_, request.id};
  auto message = streaming_ ? EncodeStreamResponse(names, response) : EncodeInferResponse(names, response);
  if (message.ok() && compression_ > 0 && message->size() > kMaxLoopBytes)
    CompressMessage(*message, compression_);
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
  record.model = model_name_;
  record.version = model_ ? std::string_view(model_->version()) : std::string_view(version_);
  record.request_id = request.id;
  if (model_ && finished()) record.times = &times;
}

}  // namespace tern::server
