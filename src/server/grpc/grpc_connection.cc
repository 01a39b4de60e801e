#include "server/grpc/grpc_connection.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>

#include "server/grpc/session_callbacks.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;

constexpr size_t kReadBytes = size_t{256} << 10;  // limit of one call of recv
// If at least kMinDirect bytes of a DATA frame are missing, they are received directly into the message. Such
// a read ends at most kTailBytes after the frame, so that the next frame can be received in the same way.
constexpr size_t kMinDirect = size_t{32} << 10, kTailBytes = size_t{16} << 10;
constexpr int kReadsPerTurn = 8, kWritesPerTurn = 8, kMaxParts = 256;
// Limits on the bytes of responses that the client has not read. Above kMaxUnsent (or a share of a small
// budget), no further requests are started. Above kMaxStreamed, streams that send many responses end.
constexpr int64_t kMaxUnsent = int64_t{32} << 20, kMaxStreamed = int64_t{64} << 20;
constexpr milliseconds kTurn{2};  // a connection reads for at most this long, because others wait
constexpr milliseconds kPrefaceTime{20'000}, kLingerTime{1'000}, kDrainNotice{100};

// One buffer per thread is enough, because nghttp2 consumes all bytes at once.
char* ReadBuffer() {
  thread_local const std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
  return buffer.get();
}

}  // namespace

GrpcConnection::GrpcConnection(std::shared_ptr<GrpcShared> shared, Loop& loop, std::unique_ptr<Stream> stream,
                               std::function<void()> done)
    : shared_(std::move(shared)), loop_(loop), stream_(std::move(stream)), done_(std::move(done)) {}

// Does the work of one event, then writes the resulting frames to the socket.
template <class F> void GrpcConnection::Turn(F&& work) {
  if (closed_) return;
  const auto self = shared_from_this();
  in_turn_ = true;
  now_ = Clock::now();
  inflated_ = 0;
  if (!owing_) read_by_ = now_ + shared_->options.message_time;
  const Status status = Guard([&]() -> Status {
    work();
    EndTurn();
    return {};
  });
  in_turn_ = false;
  if (!status.ok()) Close();
}

GrpcConnection::~GrpcConnection() {
  done_ = nullptr;
  Close();
}

Status GrpcConnection::Start() {
  replies_ = std::make_shared<ReplyBox>(loop_, *this);
  session_ = MakeSession(*this);
  if (!session_) return ResourceExhausted("out of memory");
  TERN_TRY(loop_.Add(stream_->fd(), this, true, false));
  // The HTTP/2 settings are sent after the client's first bytes, because an HTTP/1.1 client must not receive
  // them.
  now_ = last_read_ = Clock::now();
  StartTimers();
  return {};
}

uint64_t GrpcConnection::After(milliseconds delay, void (GrpcConnection::*function)()) {
  return loop_.After(delay, [weak = weak_from_this(), function] {
    const auto self = weak.lock();
    if (self) self->Turn([&] { (self.get()->*function)(); });
  });
}

void GrpcConnection::AfterOnce(milliseconds delay, void (GrpcConnection::*function)()) {
  timers_.push_back(After(delay, function));
}

void GrpcConnection::StartTimers() {
  const GrpcOptions& options = shared_->options;
  AfterOnce(kPrefaceTime, &GrpcConnection::ClosePreface);
  if (options.message_time.count() > 0)
    pace_timer_ = After(options.message_time / 4, &GrpcConnection::CheckPace);
  if (options.keepalive_time.count() > 0)
    keepalive_timer_ = After(options.keepalive_time, &GrpcConnection::KeepAlive);
  if (options.max_connection_age.count() <= 0) return;
  // Ages differ by up to 10 %, so that clients that connected at the same time do not reconnect at the same
  // time.
  const int64_t percent = 90 + static_cast<int64_t>(reinterpret_cast<uintptr_t>(this) >> 6) % 21;
  AfterOnce(options.max_connection_age * percent / 100, &GrpcConnection::OnAge);
}

void GrpcConnection::ClosePreface() {
  if (!started_) Close();
}

void GrpcConnection::OnAge() {
  StartDrain();
  AfterOnce(kDrainNotice + shared_->options.max_connection_age_grace, &GrpcConnection::Close);
}

void GrpcConnection::KeepAlive() {
  const GrpcOptions& options = shared_->options;
  const auto quiet = now_ - last_read_;
  if (quiet >= options.keepalive_time + options.keepalive_timeout) return Close();
  const bool ping = quiet >= options.keepalive_time;
  if (ping) nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
  const auto next = ping ? options.keepalive_timeout : options.keepalive_time;
  keepalive_timer_ = After(std::max(next, milliseconds(1)), &GrpcConnection::KeepAlive);
}

// One timer serves all streams: slow messages are rare. The connection is closed if its client does not take
// responses from the socket, or keeps the window of the connection closed.
void GrpcConnection::CheckPace() {
  if (now_ > read_by_) return Close();
  pace_timer_ = After(shared_->options.message_time / 4, &GrpcConnection::CheckPace);
  std::vector<int32_t> ids;
  for (const auto& [id, stream] : streams_) ids.push_back(id);
  for (const int32_t id : ids)
    if (GrpcStream* stream = Find(id)) stream->CheckPace();
  if (Crowded()) ResetStalled();
}

// True if unread responses hold up other requests of this connection, or requests of other clients.
bool GrpcConnection::Crowded() const {
  const ServerContext& context = shared_->context;
  return choked() || context.queued_bytes > context.limits.queued_bytes / 2;
}

// Ends the stream with the most unread bytes if the client does not read it. Ends only one stream per call,
// because that may be enough.
void GrpcConnection::ResetStalled() {
  GrpcStream* largest = nullptr;
  for (const auto& [id, stream] : streams_)
    if (!largest || stream->pending() > largest->pending()) largest = stream.get();
  if (!largest || !largest->stalled()) return;
  largest->OnUnread();
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, largest->id(), NGHTTP2_ENHANCE_YOUR_CALM);
}

// Returns whether the client must take bytes before the server can send more. A stream whose own window is
// closed does not count: its application may read it later, and the other streams go on.
bool GrpcConnection::Owing() const {
  return !out_.empty() || (pending_ > 0 && nghttp2_session_get_remote_window_size(session_.get()) <= 0);
}

void GrpcConnection::CallAfter(milliseconds delay, int32_t stream) {
  loop_.After(delay, [weak = weak_from_this(), stream] {
    const auto self = weak.lock();
    if (!self) return;
    self->Turn([&] {
      GrpcStream* found = self->Find(stream);
      if (found && found->rpc()) found->rpc()->OnTimer();
    });
  });
}

GrpcStream* GrpcConnection::Find(int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

bool GrpcConnection::choked() const { return Unsent() > UnsentLimit(shared_->context, kMaxUnsent); }
bool GrpcConnection::overloaded(size_t outbox) const {
  return pending_ + static_cast<int64_t>(outbox) > kMaxStreamed;
}

void GrpcConnection::EndTurn() {
  if (closed_) return;
  ArmDeadlines();
  if (flooded_ && !refusing_) SendGoAway();
  Flush();
  if (closed_) return;
  if (!held_.empty() && !choked()) ReleaseHeld();
  owing_ = Owing();
  unsent_.Set(shared_->context, Unsent() + static_cast<uint64_t>(ordered_));
  if (closed_ || lingering_) return;
  const bool over = !nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get());
  const bool drained = drain_announced_ && !has_requests();
  if (out_.empty() && (over || drained || refusing_)) Linger();
}

// Starts the requests that waited until the client had read enough.
void GrpcConnection::ReleaseHeld() {
  for (const int32_t id : std::exchange(held_, {}))
    if (GrpcStream* stream = Find(id)) stream->OnReleased();
  ArmDeadlines();
  Flush();
  if (!closed_ && !held_.empty() && !choked()) PostTurn();
}

void GrpcConnection::PostTurn() {
  if (std::exchange(turn_posted_, true)) return;
  loop_.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->turn_posted_ = false;
    self->Turn([] {});
  });
}

void GrpcConnection::RunTurn(const std::function<void(GrpcConnection&)>& work) {
  Turn([&] { work(*this); });
}

void GrpcConnection::SendGoAway() {
  refusing_ = true;
  const std::string_view text = flooded_;
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_ENHANCE_YOUR_CALM,
                        reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

void GrpcConnection::OnEvents(bool readable, bool, bool hang_up) {
  Turn([&] {
    if (readable || hang_up || stream_->wants_write()) Read();
  });
}

void GrpcConnection::OnReply(Reply reply) {
  GrpcStream* stream = Find(reply.stream);
  if (!stream || !stream->rpc()) return;
  stream->rpc()->OnReply(std::move(reply));
  // The reply may arrive in a turn of another connection. Then this connection needs its own turn to send it.
  if (!in_turn_) PostTurn();
}

void GrpcConnection::OnReplies(std::vector<Reply> replies) {
  Turn([&] {
    for (Reply& reply : replies) OnReply(std::move(reply));
  });
}

void GrpcConnection::Read() {
  for (int i = 0; i < kReadsPerTurn && !closed_; ++i)
    if (!ReadOnce() || Clock::now() - now_ > kTurn) return;  // an event announces what is left
}

// Returns whether there may be more bytes to read. The rest of a long DATA frame is received directly into
// the message of its stream. nghttp2 gets it from there, and OnData finds it in its place.
bool GrpcConnection::ReadOnce() {
  GrpcStream* const stream = data_left_ >= kMinDirect ? Find(data_stream_) : nullptr;
  const Buffer room = stream ? stream->Room() : Buffer();  // keeps the memory until nghttp2 has seen it
  const size_t direct = std::min(room.size(), data_left_);
  const bool in_place = direct >= kMinDirect;
  const iovec parts[] = {{room.data(), direct}, {ReadBuffer(), in_place ? kTailBytes : kReadBytes}};
  const size_t asked = (in_place ? direct : 0) + parts[1].iov_len;
  size_t size = 0;
  const Stream::Outcome outcome = in_place ? stream_->ReadParts(parts, 2, size)
                                           : stream_->Read(parts[1].iov_base, parts[1].iov_len, size);
  if (outcome == Stream::Outcome::kWouldBlock) return false;
  if (outcome == Stream::Outcome::kClosed) return Close(), false;
  last_read_ = now_;
  if (lingering_ || flooded_) return true;
  const size_t placed = in_place ? std::min(size, direct) : 0;
  if (placed && !Feed(room.data(), placed)) return false;
  if (size > placed && !Feed(parts[1].iov_base, size - placed)) return false;
  // After a short read, an event announces further bytes of the socket, but not bytes that TLS has already
  // decrypted.
  return size == asked || stream_->buffered() || !shared_->options.listen.tls.certificate.empty();
}

// Passes received bytes to the session. Returns false if the connection reads no more in this turn.
bool GrpcConnection::Feed(const void* data, size_t size) {
  const ssize_t used = nghttp2_session_mem_recv(session_.get(), static_cast<const uint8_t*>(data), size);
  if (used == NGHTTP2_ERR_BAD_CLIENT_MAGIC)
    return RefuseOtherProtocol({static_cast<const char*>(data), size}), false;
  if (used == NGHTTP2_ERR_FLOODED && !flooded_) flooded_ = "too_many_frames";
  if (flooded_) return false;
  if (used < 0) return Close(), false;
  return true;
}

// Sends an HTTP/1.1 client an answer that it can read.
void GrpcConnection::RefuseOtherProtocol(std::string_view bytes) {
  constexpr std::string_view kAnswer =
      "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain\r\nContent-Length: 40\r\n"
      "Connection: close\r\n\r\nthis port speaks gRPC over HTTP/2 only.\n";
  if (bytes.find(" HTTP/1.") == std::string_view::npos) return Close();
  const iovec part = {const_cast<char*>(kAnswer.data()), kAnswer.size()};
  size_t written = 0;
  stream_->Write(&part, 1, written);
  Linger();
}

// Moves frames from the session to out_.
void GrpcConnection::Fill() {
  while (out_.size() < kFillBytes) {
    const uint8_t* data = nullptr;
    const size_t before = out_.size();
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
    if (size < 0) return Close();
    if (size > 0) out_.Append(data, static_cast<size_t>(size));
    if (size == 0 && out_.size() == before) return;
  }
}

// Returns whether the socket accepted everything.
bool GrpcConnection::Write() {
  iovec parts[kMaxParts];
  while (!out_.empty()) {
    const int count = out_.Parts(parts, kMaxParts);
    size_t written = 0;
    const Stream::Outcome outcome = stream_->Write(parts, count, written);
    if (outcome == Stream::Outcome::kClosed) return Close(), false;
    out_.Consume(written);
    if (written) CountTaken(written);
    if (outcome == Stream::Outcome::kWouldBlock || written == 0) return false;
  }
  return true;
}

// Extends the deadline read_by_ in proportion to the bytes of responses that the client took. While responses
// wait, other frames do not extend it. Otherwise a client that sends pings could keep its responses in the
// server's memory for ever.
void GrpcConnection::CountTaken(size_t written) {
  const size_t data = std::min(written, data_out_);
  data_out_ -= data;
  const auto latest = now_ + shared_->options.message_time;
  const bool waits = pending_ > 0 || data_out_ > 0;
  const milliseconds more(static_cast<int64_t>(data) / kMinBytesPerMs);
  read_by_ = waits ? std::min(latest, read_by_ + more) : latest;
}

void GrpcConnection::Flush() {
  bool more = true;
  for (int i = 0; i < kWritesPerTurn && more && !lingering_; ++i) {
    Fill();
    if (closed_) return;
    if (out_.empty()) break;
    more = Write();
    if (closed_) return;
    if (more && !nghttp2_session_want_write(session_.get())) break;
  }
  WatchSocket();
}

// Requests an event for a writable socket if there are bytes to write. While the client does not take the
// bytes of too many responses from the socket, nothing is read from it either. (If only HTTP/2's flow control
// holds them up, reading goes on: it brings the frames that open the client's windows.)
void GrpcConnection::WatchSocket() {
  const bool rest = !lingering_ && (!out_.empty() || nghttp2_session_want_write(session_.get()));
  const bool write = rest || stream_->wants_write();
  const bool read = lingering_ || out_.empty() || !choked();
  if (read == watches_read_ && write == watches_write_) return;
  watches_read_ = read;
  watches_write_ = write;
  loop_.Change(stream_->fd(), this, read, write);
}

// Deadline timers start at the end of a turn, so a stream that is answered in its first turn needs none.
void GrpcConnection::ArmDeadlines() {
  for (size_t i = 0; i < fresh_.size(); ++i) ArmDeadline(fresh_[i]);
  fresh_.clear();
}

void GrpcConnection::ArmDeadline(int32_t id) {
  GrpcStream* stream = Find(id);
  if (!stream || stream->finished() || stream->deadline_timer) return;
  const auto left = stream->arrived() + stream->timeout() - Clock::now();
  const auto delay =
      std::chrono::ceil<milliseconds>(std::max<Clock::duration>(left, Clock::duration::zero()));
  stream->deadline_timer = loop_.After(delay, [weak = weak_from_this(), id] {
    const auto self = weak.lock();
    if (!self) return;
    self->Turn([&] {
      if (GrpcStream* found = self->Find(id)) found->OnDeadline();
    });
  });
}

// Streams whose headers are incomplete do not count.
bool GrpcConnection::has_requests() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& entry) { return entry.second->accepted(); });
}

void GrpcConnection::Drain() {
  if (closed_) return;
  Turn([&] {
    stopping_ = true;
    Read();  // accepts the requests that have already arrived
    if (closed_) return;
    EndUnfinished();
    StartDrain();
  });
}

// Ends streams that have no request to answer. Also ends requests that have not arrived completely, because
// clients may never send the rest.
void GrpcConnection::EndUnfinished() {
  std::vector<int32_t> ids;
  for (const auto& [id, stream] : streams_) ids.push_back(id);
  for (const int32_t id : ids)
    if (GrpcStream* stream = Find(id); stream && stream->rpc()) stream->rpc()->OnDrain();
}

// Tells the client to open no more streams. Streams that it opens before it reads the notice are still
// served.
void GrpcConnection::StartDrain() {
  if (draining_) return;
  draining_ = true;
  nghttp2_submit_shutdown_notice(session_.get());
  AfterOnce(kDrainNotice, &GrpcConnection::FinishDrain);
}

void GrpcConnection::FinishDrain() {
  drain_announced_ = true;
  if (stopping_) EndUnfinished();  // streams that came after Drain
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR, nullptr,
                        0);
}

// Waits until the client closes. Closing a socket with unread bytes resets the connection, and the client may
// lose the last frames.
void GrpcConnection::Linger() {
  if (lingering_ || closed_) return;
  lingering_ = true;
  stream_->ShutdownWrite();
  AfterOnce(kLingerTime, &GrpcConnection::Close);
}

void GrpcConnection::Close() {
  if (closed_) return;
  closed_ = true;
  if (replies_) replies_->Close();
  for (const uint64_t timer : timers_) loop_.Cancel(timer);
  if (keepalive_timer_) loop_.Cancel(keepalive_timer_);
  if (pace_timer_) loop_.Cancel(pace_timer_);
  loop_.Remove(stream_->fd(), this);
  // OnClose may run code that calls Find, so streams_ is emptied first.
  auto streams = std::move(streams_);
  streams_.clear();
  for (auto& [id, stream] : streams) {
    if (stream->deadline_timer) loop_.Cancel(stream->deadline_timer);
    stream->OnClose();
  }
  streams.clear();
  if (done_) std::exchange(done_, nullptr)();
}

}  // namespace tern::server
