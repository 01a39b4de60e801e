#include "server/http/http_call.h"

#include <algorithm>

#include "server/http/generate_json.h"
#include "server/http/infer_reply.h"
#include "server/http/json_writer.h"

namespace tern::server {

void HttpCall::Describe(AccessRecord& record) const {
  record.model = version_->config().name;
  record.version = version_->version();
  record.request_id = request.id;
  record.times = &times;
}

// Takes what the connection has not taken yet.
Status HttpCall::Reserve(uint64_t bytes) {
  const uint64_t more = bytes - std::min(bytes, reservation_.bytes());
  return reservation_.Add(context_, more) ? Status() : TooManyQueuedBytes(context_, more);
}

Status HttpCall::Parse(const Buffer& body, std::optional<uint64_t> infer_header) {
  const InferSource source{&version_->config(), &context_.limits, context_.shared_memory};
  if (mode_ == Mode::kInfer) {
    if (version_->config().decoupled)
      return Unsupported("HTTP end point doesn't support models with decoupled transaction policy");
    TERN_TRY(ParseInferRequest(body, infer_header, source, request, format_));
  } else {
    TERN_TRY(
        ParseGenerateRequest({reinterpret_cast<const char*>(body.data()), body.size()}, source, request));
  }
  return Reserve(body.size() + format_.converted);
}

void HttpCall::Start(HttpConnection& connection, const Buffer& body, std::optional<uint64_t> infer_header,
                     ByteReservation reservation) {
  reservation_ = std::move(reservation);
  request.arrived = arrived;
  request.trace = trace;
  Status status = Parse(body, infer_header);
  if (status.ok())
    status = ForwardHeaders(connection.fields(), connection.shared().options.forward.get(), request);
  if (!status.ok()) return connection.Reply(*this, ErrorReply(status));
  version_->Submit(shared_from_this());
}

void HttpCall::OnResponse(Response response) {
  if (response.final) reservation_ = {};
  // A call that answers inline takes no detour.
  if (loop_->OnThread()) return Deliver(response);
  loop_->Post(
      [self = shared_from_this(), this, response = std::move(response)]() mutable { Deliver(response); });
}

void HttpCall::Deliver(Response& response) {
  const auto connection = connection_.lock();
  if (!connection || answered) return;
  const Status status = Guard([&] {
    if (mode_ == Mode::kGenerateStream)
      DeliverEvent(*connection, response);
    else
      DeliverWhole(*connection, response);
    return Status();
  });
  if (status.ok()) return;
  if (streaming_)
    connection->EndStream(*this);
  else
    connection->Reply(*this, ErrorReply(status));
}

// The outputs are in the final response or in an earlier one.
void HttpCall::DeliverWhole(HttpConnection& connection, Response& response) {
  const bool empty = response.status.ok() && response.outputs.empty();
  if (!empty) ++responses_;
  if (!response.final) {
    if (responses_ == 1) first_ = std::move(response);
    return;
  }
  Response& answer = empty && responses_ > 0 ? first_ : response;
  connection.Reply(*this, mode_ == Mode::kInfer ? MakeInferReply(*version_, request, format_, answer)
                                                : GenerateReply(answer));
}

HttpReply HttpCall::GenerateReply(Response& response) {
  if (!response.status.ok()) return ErrorReply(response.status, response.retry_after);
  if (responses_ != 1)
    return ErrorReply(
        500,
        "generate expects model to produce exactly 1 response, use generate stream for model that "
        "generates various number of responses");
  HttpReply reply;
  const Status status = AppendGenerateResponse(reply.body, *version_, request, response);
  return status.ok() ? std::move(reply) : ErrorReply(status);
}

// One server-sent event per response.
void HttpCall::DeliverEvent(HttpConnection& connection, Response& response) {
  Status status = response.status;
  std::string event;
  if (status.ok() && (!response.outputs.empty() || !response.final)) {
    event = "data: ";
    status = AppendGenerateResponse(event, *version_, request, response);
  }
  if (!status.ok()) {
    event = "data: " + ErrorJson(status.message());
    error = status.message();
  }
  if (!streaming_)
    connection.BeginStream(*this, HttpStatus(status.code()), "text/event-stream; charset=utf-8");
  streaming_ = true;
  if (!event.empty()) connection.StreamText(*this, event + "\n\n");
  if (response.final) connection.EndStream(*this);
}

}  // namespace tern::server
