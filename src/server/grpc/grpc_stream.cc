#include "server/grpc/grpc_stream.h"

#include <algorithm>

#include "server/grpc/grpc_connection.h"
#include "server/grpc/message_compression.h"

namespace tern::server {
namespace {

constexpr size_t kMaxHeaderBytes = 16 << 10;

GrpcStatus Overloaded() {
  return {GrpcCode::kResourceExhausted, "the client does not read the responses of this connection", 0};
}

}  // namespace

GrpcStream::GrpcStream(GrpcConnection& connection, int32_t id, Clock::time_point arrived)
    : connection_(connection), id_(id), arrived_(arrived) {}

GrpcStream::~GrpcStream() { connection_.CountPending(-static_cast<int64_t>(pending_)); }

void GrpcStream::OnHeader(std::string_view name, std::string_view value) {
  header_bytes_ += name.size() + value.size() + 32;
  if (header_bytes_ > kMaxHeaderBytes) return;
  if (name == ":path") {
    method_ = FindMethod(value);
    if (!method_) unknown_path_ = value;
  } else {
    ReadHeader(name, value, metadata_);
    if (connection_.shared().keeps_headers && !IsProtocolHeader(name)) headers_.emplace_back(name, value);
  }
}

GrpcStatus GrpcStream::CheckHeaders() const {
  if (!method_) return {GrpcCode::kUnimplemented, StrCat("unknown method '", unknown_path_, "'"), 0};
  if (const auto* secret = connection_.shared().options.restrictions.Missing(method_->group, headers_))
    return {GrpcCode::kUnavailable,
            StrCat("This protocol is restricted, expecting header '", secret->header, "'"), 0};
  if (metadata_.encoding == Compression::kUnknown)
    return {GrpcCode::kUnimplemented, "unknown grpc-encoding; this server reads identity, gzip and deflate",
            0};
  if (metadata_.bad_timeout) return {GrpcCode::kInvalidArgument, "bad grpc-timeout", 0};
  if (metadata_.timeout == metadata_.timeout.zero())
    return {GrpcCode::kDeadlineExceeded, "Deadline Exceeded", 0};
  if (connection_.overloaded()) return Overloaded();
  return {};
}

void GrpcStream::OnHeaders() {
  if (header_bytes_ > kMaxHeaderBytes) return FinishHttp(431);
  if (!metadata_.post) return FinishHttp(405);
  if (!metadata_.grpc_content) return FinishHttp(415);
  GrpcStatus status = CheckHeaders();
  if (!status.ok()) return Finish(std::move(status));
  rpc_ = method_->make(*this, *method_);
}

void GrpcStream::OnData(const char* data, size_t size) {
  received_ += size;
  connection_.ConsumeConnection(size);
  const size_t all = size;
  while (size > 0 && !finished_) {
    GrpcStatus status;
    if (reader_.idle()) message_began_ = connection_.now();
    const size_t used = reader_.Feed(data, size, connection_.shared().limits, connection_.context(), status);
    if (!status.ok()) return Abort(std::move(status));
    data += used;
    size -= used;
    if (reader_.complete() && !TakeMessage()) return;
  }
  if (finished_) return;
  unconsumed_ += all;
  if (!rpc_->full()) Resume();
}

bool GrpcStream::TakeMessage() {
  GrpcStatus status;
  if (connection_.overloaded()) return Abort(Overloaded()), false;
  InMessage message =
      reader_.Take(metadata_.encoding, connection_.shared().limits, connection_.context(), status);
  if (!status.ok()) return Abort(std::move(status)), false;
  rpc_->OnMessage(std::move(message));
  return true;
}

void GrpcStream::Resume() {
  if (unconsumed_) connection_.Consume(id_, unconsumed_);
  unconsumed_ = 0;
}

void GrpcStream::OnEnd() {
  if (finished_) return;
  if (!reader_.idle()) return Abort({GrpcCode::kInternal, "the request ended inside a message", 0});
  rpc_->OnEnd();
}

void GrpcStream::OnClose() {
  if (finished_) return;
  finished_ = true;
  status_ = {GrpcCode::kCancelled, "cancelled by the client", 0};
  if (rpc_) rpc_->OnCancel();
  RecordSelf();
}

void GrpcStream::OnDeadline() {
  deadline_timer = 0;
  Abort({GrpcCode::kDeadlineExceeded, "Deadline Exceeded", 0});
}

void GrpcStream::CheckPace() {
  constexpr int64_t kMinBytesPerMs = 1;  // on average
  if (finished_ || !rpc_ || reader_.idle()) return;
  // The client waits for the server, not the server for the client.
  if (rpc_->full()) message_began_ = connection_.now();
  const std::chrono::milliseconds more(static_cast<int64_t>(reader_.filled()) / kMinBytesPerMs);
  if (connection_.now() - message_began_ <= connection_.shared().options.message_time + more) return;
  Abort({GrpcCode::kDeadlineExceeded, "a message of the request arrives too slowly", 0});
}

void GrpcStream::Abort(GrpcStatus status) {
  if (finished_) return;
  Finish(std::move(status));
  if (rpc_) rpc_->OnCancel();
}

void GrpcStream::Emit(size_t size, OutBuffer& out) {
  pending_ -= size;
  sent_ += size;
  connection_.CountPending(-static_cast<int64_t>(size));
  while (first_ < queue_.size()) {  // continues while size is 0, to drop empty parts
    OutMessage& message = queue_[first_];
    const std::string_view rest = message.Part(part_).substr(offset_);
    const size_t part = std::min(size, rest.size());
    if (part_ % 2)
      out.AppendReference(rest.data(), part, message.tensors[part_ / 2].bytes);
    else
      out.Append(rest.data(), part);
    size -= part;
    offset_ += part;
    if (part < rest.size()) return;
    offset_ = 0;
    if (++part_ < message.part_count()) continue;
    part_ = 0;
    message = {};
    if (++first_ < queue_.size()) continue;
    queue_.clear();
    first_ = 0;
  }
}

void GrpcStream::Send(OutMessage message) {
  if (finished_) return;
  const int level = connection_.shared().options.response_compression;
  const bool compressed = level > 0 && metadata_.accepts_gzip;
  if (compressed) CompressMessage(message, level);
  const size_t size = message.size();
  pending_ += size;
  connection_.CountPending(static_cast<int64_t>(size));
  queue_.push_back(std::move(message));
  if (!responded_) {
    responded_ = true;
    connection_.SubmitHeaders(*this, compressed);
  } else if (waiting) {
    connection_.ResumeSending(*this);
  }
}

void GrpcStream::Finish(GrpcStatus status) {
  if (finished_) return;
  finished_ = true;
  status_ = std::move(status);
  if (!responded_)
    connection_.SubmitStatus(*this);
  else if (waiting)
    connection_.ResumeSending(*this);
  RecordSelf();
}

void GrpcStream::FinishHttp(int code) {
  finished_ = true;
  status_ = {GrpcCode::kInternal, StrCat("HTTP status ", code), 0};
  connection_.SubmitHttpError(id_, code);
  RecordSelf();
}

void GrpcStream::RecordSelf() const {
  if (rpc_ && rpc_->records_calls()) return;
  AccessRecord record;
  record.status = static_cast<int>(status_.code);
  record.error = status_.message;
  record.received = received_;
  record.sent = sent_ + pending_;
  if (rpc_) rpc_->Describe(record);
  Record(record);
}

void GrpcStream::Record(AccessRecord record) const {
  Observability* observability = connection_.context().observability;
  if (!observability) return;
  record.protocol = "grpc";
  record.method = "POST";
  record.target = method_ ? method_->path : std::string_view(unknown_path_);
  if (record.duration.count() == 0) record.duration = Clock::now() - arrived_;
  record.trace = metadata_.trace.trace_id.empty() ? nullptr : &metadata_.trace;
  observability->OnRequest(record);
}

}  // namespace tern::server
