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

GrpcStream::~GrpcStream() {
  connection_.CountPending(-static_cast<int64_t>(pending_));
  connection_.CountOutbox(-static_cast<int64_t>(outbox_bytes_));
  if (connection_window_) connection_.ConsumeConnection(connection_window_);
}

void GrpcStream::OnHeader(std::string_view name, std::string_view value) {
  header_bytes_ += name.size() + value.size() + 32;
  if (header_bytes_ > kMaxHeaderBytes) return;
  if (name == ":path") {
    method_ = FindMethod(value);
    if (!method_) unknown_path_ = value;
  } else if (name == "authorization" && connection_.context().access) {
    if (authorizations_++ == 0) authorization_ = value;
  } else {
    ReadHeader(name, value, metadata_);
    if (connection_.shared().keeps_headers && !IsProtocolHeader(name)) headers_.emplace_back(name, value);
  }
}

GrpcStatus GrpcStream::CheckHeaders() {
  if (GrpcStatus refused = CheckAccess(); !refused.ok()) return refused;
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
  stream_window_ += size;
  connection_window_ += size;
  while (size > 0 && !finished_) {
    GrpcStatus status;
    if (reader_.idle()) message_began_ = connection_.now();
    const size_t used = reader_.Feed(data, size, connection_.shared().limits, connection_.context(), status);
    if (!status.ok()) Abort(std::move(status));
    data += used;
    size -= used;
    if (!finished_ && reader_.complete()) TakeMessage();
  }
  ReturnWindow();
}

void GrpcStream::TakeMessage() {
  InMessage message = reader_.Take();
  // The usual case needs no memory for the inbox.
  if (!Waiting() && !message.compressed && !connection_.choked()) return Pass(std::move(message));
  inbox_.push_back(std::move(message));
  PassMessages();
}

void GrpcStream::Pass(InMessage message) {
  GrpcStatus expired = CheckValid();
  if (!expired.ok()) return Abort(std::move(expired));
  rpc_->OnMessage(std::move(message));
}

// Passes messages and the end of the request to the Rpc, in order. A message waits while the one before it is
// decompressed or parsed, and while the client does not read the responses of the connection.
void GrpcStream::PassMessages() {
  while (!finished_ && !paused_ && (end_waits_ || !inbox_.empty())) {
    if (Held()) return;
    if (inbox_.empty()) {
      end_waits_ = false;
      return rpc_->OnEnd();
    }
    InMessage message = std::move(inbox_.front());
    inbox_.pop_front();
    if (message.compressed && !InflateNow(message)) {
      if (!finished_) StartInflating(std::move(message));
      continue;
    }
    Pass(std::move(message));
  }
}

// Decompresses a small message, because handing it to another thread takes longer than the work. Returns
// false if the message is not small, or is invalid.
bool GrpcStream::InflateNow(InMessage& message) {
  if (message.bytes.size() > kMaxLoopInflate || !connection_.may_inflate()) return false;
  GrpcShared& shared = connection_.shared();
  MessageLimits limits = shared.limits;
  limits.decompressed = std::min(limits.decompressed, kMaxLoopBytes);
  GrpcStatus status = Inflate(metadata_.encoding, limits, shared.context, message);
  const bool long_result = status.code == GrpcCode::kResourceExhausted;
  connection_.CountInflated(long_result ? limits.decompressed : message.bytes.size());
  if (status.ok()) return true;
  // Another thread tries again with the real limit.
  if (!long_result) Abort(std::move(status));
  return false;
}

// Returns whether the connection is choked. It then calls OnReleased later.
bool GrpcStream::Held() {
  if (!connection_.choked()) return false;
  if (!std::exchange(held_, true)) connection_.Hold(id_);
  return true;
}

void GrpcStream::OnReleased() {
  held_ = false;
  PassMessages();
  ReturnWindow();
}

void GrpcStream::OnContinue() {
  paused_ = false;
  PassMessages();
  ReturnWindow();
}

void GrpcStream::StartInflating(InMessage message) {
  paused_ = true;
  GrpcShared& shared = connection_.shared();
  auto work = [replies = connection_.replies(), id = id_, encoding = metadata_.encoding,
               limits = shared.limits, &context = shared.context,
               message = std::make_shared<InMessage>(std::move(message))] {
    GrpcStatus status;
    const Status thrown = Guard([&]() -> Status {
      status = Inflate(encoding, limits, context, *message);
      return {};
    });
    if (!thrown.ok()) status = GrpcStatus::Of(thrown);
    replies->Post([id, message, status](GrpcConnection& connection) {
      if (GrpcStream* stream = connection.Find(id)) stream->OnInflated(std::move(*message), status);
    });
  };
  if (!shared.work.Post(std::move(work)))
    Abort({GrpcCode::kResourceExhausted, "too many compressed messages wait", 0});
}

void GrpcStream::OnInflated(InMessage message, GrpcStatus status) {
  paused_ = false;
  if (finished_) return;
  if (!status.ok()) return Abort(std::move(status));
  inbox_.push_front(std::move(message));
  OnContinue();
}

// Gives the received bytes back to the flow-control windows, unless messages wait here or in the Rpc. While
// the connection is choked, its window bounds the bytes of requests that it holds.
void GrpcStream::ReturnWindow() {
  if (Waiting() || (!finished_ && Held())) return;
  if (connection_window_) connection_.ConsumeConnection(std::exchange(connection_window_, 0));
  if (!finished_ && !rpc_->full()) Resume();
}

void GrpcStream::Resume() {
  if (stream_window_ && !Waiting()) connection_.Consume(id_, std::exchange(stream_window_, 0));
}

void GrpcStream::OnEnd() {
  if (finished_) return;
  if (!reader_.idle()) return Abort({GrpcCode::kInternal, "the request ended inside a message", 0});
  end_waits_ = true;
  PassMessages();
}

void GrpcStream::OnClose() {
  if (finished_) return RecordSelf();
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
  if (rpc_ && rpc_->records_calls())
    if (GrpcStatus expired = CheckValid(); !expired.ok()) return Abort(std::move(expired));
  if (finished_ || !rpc_ || reader_.idle()) return;
  // While the server is busy, the client cannot send. So this time does not count.
  if (rpc_->full() || Waiting()) message_began_ = connection_.now();
  const std::chrono::milliseconds more(static_cast<int64_t>(reader_.filled()) / kMinBytesPerMs);
  if (connection_.now() - message_began_ <= connection_.shared().options.message_time + more) return;
  Abort({GrpcCode::kDeadlineExceeded, "a message of the request arrives too slowly", 0});
}

bool GrpcStream::stalled() const {
  return pending_ > 0 && connection_.shared().options.message_time.count() > 0 &&
         connection_.now() > read_by_;
}

void GrpcStream::OnUnread() { Abort(Overloaded()); }

void GrpcStream::Abort(GrpcStatus status) {
  if (finished_) return;
  Finish(std::move(status));
  if (rpc_) rpc_->OnCancel();
}

void GrpcStream::Emit(size_t size, OutBuffer& out) {
  pending_ -= size;
  sent_ += size;
  const std::chrono::milliseconds more(static_cast<int64_t>(size) / kMinBytesPerMs);
  read_by_ = std::min(connection_.now() + connection_.shared().options.message_time, read_by_ + more);
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
  // A stream with many responses ends here if its client does not read. Otherwise a model could fill the
  // memory. A client that has read all responses of the stream does read.
  const bool unread = pending_ + outbox_bytes_ > 0;
  if (responded_ && unread && connection_.overloaded(outbox_bytes_)) return Abort(Overloaded());
  if (!std::exchange(responded_, true)) connection_.SubmitHeaders(*this, Compresses());
  // The usual case needs no memory for the outbox.
  if (outbox_.empty() && !compressing_ && !TakesLong(message)) return QueueShort(std::move(message));
  CountOutbox(static_cast<int64_t>(message.size()));
  outbox_.push_back(std::move(message));
  PassOutbox();
}

bool GrpcStream::Compresses() const {
  return metadata_.accepts_gzip && connection_.shared().options.response_compression > 0;
}

bool GrpcStream::TakesLong(const OutMessage& message) const {
  return Compresses() && message.size() > kMaxLoopBytes;
}

void GrpcStream::CountOutbox(int64_t bytes) {
  outbox_bytes_ += static_cast<size_t>(bytes);
  connection_.CountOutbox(bytes);
}

// Compresses messages and queues them, in order. Another thread compresses long ones.
void GrpcStream::PassOutbox() {
  while (!compressing_ && !outbox_.empty()) {
    OutMessage message = std::move(outbox_.front());
    outbox_.pop_front();
    if (TakesLong(message) && StartCompressing(message)) return;
    CountOutbox(-static_cast<int64_t>(message.size()));
    QueueShort(std::move(message));
  }
}

void GrpcStream::QueueShort(OutMessage message) {
  if (Compresses() && !TakesLong(message))
    CompressMessage(message, connection_.shared().options.response_compression);
  Queue(std::move(message));
}

// Returns false, and leaves the message as it is, if too much waits for the worker threads.
bool GrpcStream::StartCompressing(OutMessage& message) {
  GrpcShared& shared = connection_.shared();
  const size_t plain = message.size();
  const auto held = std::make_shared<OutMessage>(std::move(message));
  auto work = [replies = connection_.replies(), id = id_, level = shared.options.response_compression, held,
               plain] {
    // A message that cannot be compressed is sent as it is.
    static_cast<void>(Guard([&]() -> Status {
      CompressMessage(*held, level);
      return {};
    }));
    replies->Post([id, held, plain](GrpcConnection& connection) {
      if (GrpcStream* stream = connection.Find(id)) stream->OnCompressed(std::move(*held), plain);
    });
  };
  compressing_ = shared.work.Post(std::move(work));
  if (!compressing_) message = std::move(*held);
  return compressing_;
}

void GrpcStream::OnCompressed(OutMessage message, size_t plain) {
  compressing_ = false;
  CountOutbox(-static_cast<int64_t>(plain));
  Queue(std::move(message));
  PassOutbox();
  if (ended()) RecordSelf();
}

void GrpcStream::Queue(OutMessage message) {
  const size_t size = message.size();
  if (pending_ == 0) read_by_ = connection_.now() + connection_.shared().options.message_time;
  pending_ += size;
  connection_.CountPending(static_cast<int64_t>(size));
  queue_.push_back(std::move(message));
  if (waiting) connection_.ResumeSending(*this);
}

void GrpcStream::Finish(GrpcStatus status) {
  if (finished_) return;
  finished_ = true;
  inbox_.clear();
  status_ = std::move(status);
  if (!responded_)
    connection_.SubmitStatus(*this);
  else if (waiting)
    connection_.ResumeSending(*this);
  if (ended()) RecordSelf();
}

void GrpcStream::FinishHttp(int code) {
  finished_ = true;
  status_ = {GrpcCode::kInternal, StrCat("HTTP status ", code), 0};
  connection_.SubmitHttpError(id_, code);
  RecordSelf();
}

void GrpcStream::RecordSelf() {
  if ((rpc_ && rpc_->records_calls()) || std::exchange(recorded_, true)) return;
  AccessRecord record;
  record.status = static_cast<int>(status_.code);
  record.error = status_.message;
  record.received = received_;
  record.sent = sent_ + pending_ + outbox_bytes_;
  if (rpc_) rpc_->Describe(record);
  Record(record);
}

void GrpcStream::Record(AccessRecord record) const {
  Observability* observability = connection_.context().observability;
  if (!observability) return;
  record.protocol = "grpc";
  record.user = visitor_.name();
  record.method = "POST";
  record.target = method_ ? method_->path : std::string_view(unknown_path_);
  if (record.duration.count() == 0) record.duration = Clock::now() - arrived_;
  record.trace = metadata_.trace.trace_id.empty() ? nullptr : &metadata_.trace;
  observability->OnRequest(record);
}

}  // namespace tern::server
