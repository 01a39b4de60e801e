#include "server/http/connection.h"

#include <algorithm>

namespace tern::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLinger{1000}, kDrainLinger{100}, kDrainPause{1000};
constexpr int64_t kMinBytesPerMs = 1;  // of a body and of responses, on average

milliseconds Since(Clock::time_point time) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - time);
}

}  // namespace

HttpConnection::HttpConnection(Loop& loop, std::unique_ptr<Stream> stream, std::function<void()> done,
                               std::shared_ptr<HttpShared> shared)
    : loop_(loop),
      stream_(std::move(stream)),
      done_(std::move(done)),
      shared_(std::move(shared)),
      link_(std::make_shared<LoopLink>(loop)) {}

HttpConnection::~HttpConnection() {
  done_ = nullptr;  // not called, because the listener is already dropping this connection
  Close();
}

void HttpConnection::Start() {
  read_time_ = Clock::now();
  if (!loop_.Add(stream_->fd(), this, true, false).ok()) return Close();
  watching_ = watch_read_ = true;
  if (shared_->options.idle.count() > 0) ArmTimer(shared_->options.idle);
}

void HttpConnection::ArmTimer(std::chrono::milliseconds delay) {
  if (timer_) loop_.Cancel(timer_);
  timer_ = loop_.After(delay, [self = weak_from_this()] {
    if (auto connection = self.lock()) connection->OnTimer();
  });
}

void HttpConnection::OnTimer() {
  timer_ = 0;
  Protected([this] { CheckTimes(); });
}

// One timer serves all requests. It checks when the last bytes arrived.
void HttpConnection::CheckTimes() {
  if (lingering_) return Close();
  const milliseconds limit = shared_->options.idle;
  const bool idle = exchanges_.empty() && out_.empty();
  if (draining_ && idle) {
    const milliseconds rest = DrainTimeLeft();
    if (rest.count() > 0) return ArmTimer(rest);
    return BetweenRequests() ? EndWriting() : Close();
  }
  if (limit.count() == 0) return;
  if (!exchanges_.empty() && !owing_) return ArmTimer(limit);
  const milliseconds left = TimeLeft();
  if (left.count() > 0) return ArmTimer(left + milliseconds(1));
  if (state_ == State::kHead || !out_.empty()) return Close();
  Refuse(408, "the body of the request arrives too slowly");
}

// Returns the time until the connection is closed as idle. While responses wait for the client, the time is
// extended only by bytes that the client takes, and not by bytes that it sends. Otherwise a client may pause
// for `limit`. A head must arrive within `limit`. A long body gets more time.
milliseconds HttpConnection::TimeLeft() const {
  if (owing_) return -Since(read_by_);
  const milliseconds limit = shared_->options.idle;
  const milliseconds pause = limit - Since(read_time_);
  if (BetweenRequests()) return pause;
  const milliseconds more(static_cast<int64_t>(BodyReceived()) / kMinBytesPerMs);
  return std::min(pause, limit + more - Since(request_time_));
}

// Returns how many bytes of the body of the current request have arrived.
uint64_t HttpConnection::BodyReceived() const {
  switch (state_) {
    case State::kBody:
      return filled_;
    case State::kChunked:
      return chunked_body_->size();
    case State::kRefused:
      return request_bytes_;
    default:
      return 0;
  }
}

// Returns how long a draining server still waits for this client. A client that has just connected or got an
// answer may be sending a request. If the server closed the connection now, the client could not tell whether
// the request was executed. So the server waits. However, a client that stops inside a request must not delay
// the end of the server. So the rest of a head must arrive within kDrainPause. A body gets more time.
milliseconds HttpConnection::DrainTimeLeft() const {
  const milliseconds pause = kDrainPause - Since(std::max(read_time_, answer_time_));
  const uint64_t received = BodyReceived();
  const uint64_t fresh = received - std::min(received, hurry_bytes_);
  const milliseconds more(static_cast<int64_t>(fresh) / kMinBytesPerMs);
  return std::min(pause, kDrainPause + more - Since(hurry_time_));
}

void HttpConnection::Hurry(bool on) {
  if (on == std::exchange(hurried_, on) || !on) return;
  hurry_time_ = Clock::now();
  hurry_bytes_ = BodyReceived();
  ArmTimer(kDrainPause);
}

void HttpConnection::Drain() {
  if (draining_ || closed_) return;
  draining_ = true;
  // Accepts the requests that have already arrived.
  OnEvents(true, false, false);
}

void HttpConnection::OnEvents(bool readable, bool writable, bool hang_up) {
  Protected([&] { Run(readable, writable, hang_up); });
}

// Replies outside an event of the connection, for handlers that run on other threads.
void HttpConnection::ReplyLater(Exchange& exchange, HttpReply reply) {
  Protected([&] { Reply(exchange, std::move(reply)); });
}

// Called after requests were parsed, and when a response becomes ready at another time.
void HttpConnection::Progress() {
  turn_requests_ = 0;
  for (bool again = true; again && !closed_;) {
    PopFinished();
    if (!FlushOutput()) return;
    if (peer_closed_ && !exchanges_.empty()) OnHangUp();
    again = !closed_ && paused_ && !Paused() && !peer_closed_;
    if (again) Resume();
  }
  unsent_.Set(shared_->context, closed_ ? 0 : Unsent());
  if (!closed_) EndOrWait();
}

// Continues with the bytes that were not parsed because too many requests were in flight.
void HttpConnection::Resume() {
  paused_ = false;
  busy_ = true;
  Protected([this] { Receive(); });
}

void HttpConnection::EndOrWait() {
  if (exchanges_.empty() && peer_closed_ && (out_.empty() || !watching_)) return Close();
  const bool idle = exchanges_.empty() && out_.empty();
  if (draining_ && !lingering_) Hurry(idle);
  const bool drained = draining_ && BetweenRequests() && !yielding_ && DrainTimeLeft().count() <= 0;
  if (idle && (last_request_ || drained) && !lingering_) return EndWriting();
  UpdateInterest();
}

void HttpConnection::PopFinished() {
  while (!exchanges_.empty()) {
    Exchange& front = *exchanges_.front();
    out_.Add(std::move(front.held));
    if (!front.answered) return;
    exchanges_.pop_front();
  }
}

// Returns false if the connection is closed.
bool HttpConnection::FlushOutput() {
  if (out_.empty()) return true;
  size_t written = 0;
  const Stream::Outcome outcome = out_.Flush(*stream_, written);
  if (outcome == Stream::Outcome::kClosed) return Close(), false;
  if (owing_ || !out_.empty()) CountTaken(written);
  return true;
}

// Extends the deadline read_by_ in proportion to the bytes that the client took.
void HttpConnection::CountTaken(size_t bytes) {
  const Clock::time_point now = Clock::now();
  const Clock::time_point latest = now + shared_->options.idle;
  const milliseconds more(static_cast<int64_t>(bytes) / kMinBytesPerMs);
  read_by_ = owing_ ? std::min(latest, read_by_ + more) : latest;
  owing_ = !out_.empty();
  if (bytes > 0) read_time_ = now;  // the client is still reading a long response
}

uint64_t HttpConnection::Unsent() const {
  uint64_t sum = out_.bytes();
  for (const auto& exchange : exchanges_) sum += exchange->held.bytes();
  return sum;
}

void HttpConnection::UpdateInterest() {
  const bool write = !out_.empty() || stream_->wants_write();
  const bool read = lingering_ || ((yielding_ || !Paused()) && !peer_closed_);
  if (!watching_ || (read == watch_read_ && write == watch_write_)) return;
  watch_read_ = read;
  watch_write_ = write;
  loop_.Change(stream_->fd(), this, read, write);
}

// Cancels the requests that run. Their responses are still written, because the client may have closed only
// its sending direction.
void HttpConnection::OnHangUp() {
  if (watching_ && out_.empty()) {
    loop_.Remove(stream_->fd(), this);
    watching_ = false;
  }
  const auto running = exchanges_;
  busy_ = true;
  for (const auto& exchange : running)
    if (!exchange->answered) exchange->Abandon();
  busy_ = false;
  PopFinished();
  if (FlushOutput() && exchanges_.empty()) Close();
}

// Keeps the socket open for reading. Closing it with unread bytes would reset the connection, and the client
// could lose the response.
void HttpConnection::EndWriting() {
  lingering_ = true;
  stream_->ShutdownWrite();
  ArmTimer(draining_ ? kDrainLinger : kLinger);
  UpdateInterest();
}

void HttpConnection::Close() {
  if (closed_) return;
  closed_ = true;
  if (watching_) loop_.Remove(stream_->fd(), this);
  watching_ = false;
  if (timer_) loop_.Cancel(timer_);
  link_->Close();
  const auto running = std::move(exchanges_);
  exchanges_.clear();
  for (const auto& exchange : running)
    if (!exchange->answered) exchange->Abandon();
  if (auto done = std::move(done_)) done();
}

}  // namespace tern::server
