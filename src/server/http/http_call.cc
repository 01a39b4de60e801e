#include "server/http/http_call.h"

#include <algorithm>

#include "server/core/injected_delay.h"
#include "server/http/decimal.h"
#include "server/http/generate_json.h"
#include "server/http/infer_reply.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

// The loop itself converts, compresses and copies at most this many bytes of tensors.
constexpr uint64_t kMaxLoopBytes = uint64_t{64} << 10;

// Returns an error that says what to send if the body of an infer request cannot be JSON: a form, or a file
// for a model without a pipeline.
Status CheckBody(const IncomingBody& body, const BodyFormat& format, const ModelConfig& config) {
  if (format.infer_header) return {};
  if (format.type == BodyType::kForm)
    return InvalidArgument(
        "multipart/form-data is not supported; send the file itself as the body: curl "
        "--data-binary @FILE");
  const std::string_view text = body.text();
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] == '{' || !config.raw_input.empty()) return {};
  return InvalidArgument("failed to parse the request JSON buffer: the body does not begin with '{'; model '",
                         config.name,
                         "' has no pipeline.yaml beside it, so it takes tensors as JSON or binary "
                         "data, not files or texts");
}

}  // namespace

void HeldResponse::Reserve(ServerContext& context) {
  uint64_t bytes = 0;
  for (const WireTensor& output : response.outputs) bytes += output.bytes.size();
  reservation.Set(context, bytes);
}

void HttpCall::Describe(AccessRecord& record) const {
  record.model = version_->config().name;
  record.version = version_->version();
  record.request_id = request.id;
  record.times = &times;
}

void HttpCall::TakeVisitor(const Visitor& visitor) {
  visitor_ = visitor;
  // The model must not see the client's token.
  std::erase_if(fields_, [](const auto& field) { return EqualsIgnoreCase(field.first, "authorization"); });
  SetTenant(visitor, request);
}

// Reserves the bytes that the connection has not reserved yet.
Status HttpCall::Reserve(uint64_t bytes) {
  const uint64_t more = bytes - std::min(bytes, reservation_.bytes());
  return reservation_.Add(context_, more) ? Status() : TooManyQueuedBytes(context_, more);
}

Status HttpCall::Parse(IncomingBody body, const BodyFormat& format) {
  InjectDelay(Phase::kParse);
  reservation_ = std::move(body.reservation);
  const InferSource source{&version_->config(), &context_.limits,
                           visitor_.Has(Right::kSharedMemory) ? context_.shared_memory : nullptr};
  if (mode_ == Mode::kInfer) {
    if (version_->config().decoupled)
      return Unsupported("HTTP end point doesn't support models with decoupled transaction policy");
    if (IsItem(body, format)) {
      format_.converted += ReadItem(body.bytes, *source.config, request);
    } else {
      TERN_TRY(CheckBody(body, format, *source.config));
      TERN_TRY(ParseInferRequest(body.bytes, format.infer_header, source, request, format_));
    }
  } else if (mode_ == Mode::kDialect) {
    TERN_TRY(ReadDialect(body, source, format_.converted));
  } else {
    TERN_TRY(ParseGenerateRequest(body.text(), source, request));
  }
  TERN_TRY(ForwardHeaders(fields_, forward_.get(), request));
  if (auto chosen = version_->Choose(request)) splitter_ = std::exchange(version_, std::move(chosen));
  TERN_TRY(Reserve(body.bytes.size() + format_.converted));
  if (context_.observability) context_.observability->OnInference(*this, *version_);
  return {};
}

Status HttpCall::ReadDialect(const IncomingBody&, const InferSource&, uint64_t&) {
  return Status(Code::kInternal, "this call reads no dialect");
}

HttpReply HttpCall::DialectReply(Response& response) { return GenerateReply(response); }

// Returns whether the body is a picture, a sound or a text for a pipeline. A body without a stated type is
// JSON if it begins like an object. Browsers send JSON as text/plain unless a page states another type, so a
// body of a stated type is JSON too if it begins like an object and has the key "inputs".
bool HttpCall::IsItem(const IncomingBody& body, const BodyFormat& format) const {
  if (version_->config().raw_input.empty() || (format.infer_header && *format.infer_header > 0)) return false;
  if (format.type == BodyType::kOther || format.type == BodyType::kForm) return false;
  const std::string_view text = body.text();
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool object = first != std::string_view::npos && text[first] == '{';
  if (format.type == BodyType::kItem) return !object || text.find("\"inputs\"") == std::string_view::npos;
  return first != std::string_view::npos && !object;
}

void HttpCall::Start(HttpConnection& connection, IncomingBody body, const BodyFormat& format) {
  Status status = Parse(std::move(body), format);
  // Other connections would wait for the copy of long tensors.
  if (status.ok() && format_.shared.input_bytes() > kMaxLoopBytes) {
    if (connection.shared().work.Post([self = shared_from_this(), this] { SubmitFromThread(); })) return;
    status = ResourceExhausted("too many long requests wait");
  }
  if (status.ok()) status = format_.shared.ReadInputs(request);
  if (!status.ok()) return connection.Reply(*this, ErrorReply(status));
  Submit();
}

bool HttpCall::RefuseIfOverloaded() {
  request.arrived = arrived;
  request.trace = trace;
  return version_->RefuseIfOverloaded(*this);
}

bool HttpCall::RefuseEarly(Clock::time_point arrival) {
  request.arrived = arrival;
  early_ = true;
  const bool refused = version_->RefuseIfOverloaded(*this);
  early_ = false;
  return refused;
}

void HttpCall::StartLater(IncomingBody body, const BodyFormat& format) {
  std::optional<HttpReply> refused = body.Decode(context_);
  if (refused) return ReplyFromThread(std::move(*refused));
  const Status status = Guard([&] { return Parse(std::move(body), format); });
  if (!status.ok()) return ReplyFromThread(ErrorReply(status));
  SubmitFromThread();
}

void HttpCall::SubmitFromThread() {
  const Status status = Guard([&] { return format_.shared.ReadInputs(request); });
  if (!status.ok()) return ReplyFromThread(ErrorReply(status));
  Submit();
}

void HttpCall::ReplyFromThread(HttpReply reply) {
  // The function holds the reservation until the connection has counted the reply.
  auto held = std::make_shared<std::pair<HttpReply, ByteReservation>>(std::move(reply), ByteReservation());
  held->second.Set(context_, BodyBytes(held->first));
  loop_->Post([self = shared_from_this(), this, held = std::move(held)] {
    if (const auto connection = connection_.lock()) connection->ReplyLater(*this, std::move(held->first));
  });
}

void HttpCall::OnResponse(Response response) {
  if (early_) {
    first_.response = std::move(response);
    return;
  }
  if (response.status.ok()) format_.shared.WriteOutputs(response);
  if (response.final) {
    reservation_ = {};
    permit_.Release();
  }
  HeldResponse held{std::move(response), {}};
  // A call that answers inline takes no detour.
  if (loop_->OnThread()) return Deliver(held);
  held.Reserve(context_);
  auto posted = std::make_shared<HeldResponse>(std::move(held));
  // Only the function owns the reservation, because this thread may outlive the server.
  loop_->Post([self = shared_from_this(), this, posted = std::move(posted)] { Deliver(*posted); });
}

void HttpCall::Deliver(HeldResponse& held) {
  const auto connection = connection_.lock();
  if (!connection || answered) return;
  const Status status = Guard([&] {
    if (mode_ == Mode::kGenerateStream)
      DeliverEvent(*connection, held.response);
    else
      DeliverWhole(*connection, held);
    return Status();
  });
  if (status.ok()) return;
  if (streaming_)
    connection->EndStream(*this);
  else
    connection->Reply(*this, ErrorReply(status));
}

// The outputs are in the final response or in an earlier one.
void HttpCall::DeliverWhole(HttpConnection& connection, HeldResponse& held) {
  const bool empty = held.response.status.ok() && held.response.outputs.empty();
  if (!empty) ++responses_;
  if (!held.response.final) {
    if (responses_ != 1) return;
    first_ = std::move(held);
    return first_.Reserve(context_);
  }
  HeldResponse& answer = empty && responses_ > 0 ? first_ : held;
  if (TakesLong(answer.response)) return MakeLater(connection, answer);
  connection.Reply(*this, WholeReply(answer.response));
  first_.reservation = {};
}

// Another thread makes the reply.
void HttpCall::MakeLater(HttpConnection& connection, HeldResponse& held) {
  auto answer = std::make_shared<HeldResponse>(std::move(held));
  answer->Reserve(context_);
  const bool posted = connection.shared().work.Post([self = shared_from_this(), this, answer] {
    auto reply = Guard([&]() -> Result<HttpReply> {
      HttpReply made = WholeReply(answer->response);
      CompressReply(accept, made);
      return made;
    });
    ReplyFromThread(reply.ok() ? std::move(*reply) : ErrorReply(reply.status()));
  });
  if (!posted) connection.Reply(*this, ErrorReply(ResourceExhausted("too many long responses wait")));
}

HttpReply HttpCall::WholeReply(Response& response) {
  if (mode_ == Mode::kDialect) return DialectReply(response);
  return mode_ == Mode::kInfer ? MakeInferReply(*version_, request, format_, response)
                               : GenerateReply(response);
}

// True if the outputs are so long that another thread converts them to JSON or compresses them.
bool HttpCall::TakesLong(const Response& response) const {
  uint64_t all = 0, json = 0;
  for (const WireTensor& output : response.outputs) {
    all += output.bytes.size();
    if (mode_ != Mode::kInfer || !IsBinary(request, format_, output.name)) json += output.bytes.size();
  }
  return json > kMaxLoopBytes || (accept != Encoding::kIdentity && all > kMaxLoopBytes);
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
  // A token may expire during a long stream.
  const bool expired = streaming_ && !visitor_.Valid();
  if (expired && status.ok()) {
    status = Unavailable("the credentials of this request are no longer valid");
    response.final = true;
  }
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
  if (expired) Cancel();
}

}  // namespace tern::server
