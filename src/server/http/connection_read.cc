// The part of HttpConnection that receives requests.
#include <algorithm>
#include <cstring>

#include "server/core/buffer_pool.h"
#include "server/http/connection.h"

namespace tern::server {
namespace {

constexpr size_t kMemoryBytes = 32768;
constexpr size_t kMinRoom = 4096;
// Bytes per event, so that other connections of the loop are served too.
constexpr size_t kReadBudget = size_t{1} << 20;
// A body of more than kFirstBytes first gets memory for kFirstBytes. It gets all its memory when these bytes
// have arrived, so that a client cannot make the server allocate much by only announcing a long body.
constexpr size_t kFirstBytes = size_t{512} << 10;
constexpr size_t kMaxPipelined = 32;
constexpr std::chrono::milliseconds kTurn{2};    // limit on the time of pipelined requests in one event
constexpr size_t kMaxWaiting = size_t{8} << 20;  // bytes that the client has not read yet

}  // namespace

void HttpConnection::Run(bool readable, bool writable, bool hang_up) {
  if (closed_) return;
  if (lingering_) return Discard();
  busy_ = true;
  turn_requests_ = 0;
  if (writable && !out_.empty() && !FlushOutput()) return;
  if (readable || hang_up || stream_->wants_write() || stream_->buffered()) Receive();
  // While reading is paused, only this event shows that the client is gone.
  if (hang_up && Paused() && !yielding_) peer_closed_ = true;
  busy_ = false;
  Progress();
}

bool HttpConnection::Paused() const {
  return last_request_ || yielding_ || exchanges_.size() >= kMaxPipelined ||
         Unsent() > UnsentLimit(shared_->context, kMaxWaiting);
}

void HttpConnection::Discard() {
  char waste[16384];
  size_t read = 0;
  for (int i = 0; i < 64; ++i) {
    const auto outcome = stream_->Read(waste, sizeof waste, read);
    if (outcome == Stream::Outcome::kClosed) return Close();
    if (outcome == Stream::Outcome::kWouldBlock) return UpdateInterest();
  }
}

void HttpConnection::Receive() {
  for (size_t budget = kReadBudget; !closed_;) {
    ParseAll();  // includes the bytes that were left when parsing was paused
    if (Paused()) return;
    size_t read = 0, asked = 0;
    const auto outcome = ReadOnce(read, asked);
    if (outcome == Stream::Outcome::kClosed) peer_closed_ = true;
    if (outcome != Stream::Outcome::kDone) return;
    if (state_ == State::kBody && !Reserve(read)) return;
    budget -= std::min(budget, read);
    // After the last byte of a body, most clients wait for the response: reading again would be in vain.
    const bool more = stream_->buffered() || (read == asked && budget > 0 && !BodyEnds());
    if (!more) return ParseAll();
  }
}

// True if all bytes of the body that is being received have arrived.
bool HttpConnection::BodyEnds() const {
  return (state_ == State::kBody && filled_ == body_bytes_) || (state_ == State::kRefused && to_skip_ == 0);
}

Stream::Outcome HttpConnection::ReadOnce(size_t& read, size_t& asked) {
  if (state_ == State::kRefused) return SkipOnce(read, asked);
  Stream::Outcome outcome;
  if (state_ == State::kBody) {
    asked = std::min(body_.size() - filled_, kReadBudget);
    outcome = stream_->Read(body_.data() + filled_, asked, read);
    filled_ += read;
  } else {
    PrepareMemory();
    asked = kMemoryBytes - end_;
    outcome = stream_->Read(memory_.get() + end_, asked, read);
    if (read) read_time_ = Clock::now();
    // These are the first bytes of a request. The check of the state is needed because the buffer is also
    // empty between the chunks of a body.
    if (state_ == State::kHead && begin_ == end_) request_time_ = read_time_;
    end_ += read;
    return outcome;
  }
  if (read) read_time_ = Clock::now();
  return outcome;
}

// Reads a part of the body of a refused request.
Stream::Outcome HttpConnection::SkipOnce(size_t& read, size_t& asked) {
  char waste[32768];
  asked = static_cast<size_t>(std::min<uint64_t>(to_skip_, sizeof waste));
  const auto outcome = stream_->Read(waste, asked, read);
  to_skip_ -= read;
  request_bytes_ += read;
  if (read) read_time_ = Clock::now();
  return outcome;
}

// Makes room behind end_. Bytes before floor_ are not changed.
void HttpConnection::PrepareMemory() {
  if (begin_ == end_) begin_ = end_ = floor_;
  if (memory_ && kMemoryBytes - end_ >= kMinRoom) return;
  const size_t size = end_ - begin_;
  if (memory_ && kMemoryBytes - floor_ - size >= kMinRoom) {
    std::memmove(memory_.get() + floor_, memory_.get() + begin_, size);
    begin_ = floor_;
  } else {
    auto fresh = std::make_shared_for_overwrite<char[]>(kMemoryBytes);
    if (size) std::memcpy(fresh.get(), memory_.get() + begin_, size);
    memory_ = std::move(fresh);
    floor_ = begin_ = 0;
  }
  end_ = begin_ + size;
}

void HttpConnection::ParseAll() {
  while (!closed_ && !Paused() && ParseOne()) CountRequest();
  paused_ = Paused() && !last_request_;
}

// Lets other connections of the loop run if a client sends requests without pause.
void HttpConnection::CountRequest() {
  // Most turns have one request, for which the clock is not read.
  if (++turn_requests_ == 1) return;
  if (turn_requests_ == 2) turn_end_ = Clock::now() + kTurn;
  if (Clock::now() < turn_end_) return;
  yielding_ = true;
  loop_.Post([self = weak_from_this()] {
    if (auto connection = self.lock()) connection->EndYield();
  });
}

void HttpConnection::EndYield() {
  yielding_ = false;
  if (!closed_ && !lingering_) Protected([this] { Progress(); });
}

// Returns false if the server holds too many bytes of requests. The request is refused then.
bool HttpConnection::Reserve(size_t bytes) {
  if (reservation_.Add(shared_->context, bytes)) return true;
  Refuse(ErrorReply(TooManyQueuedBytes(shared_->context, bytes)));
  return false;
}

// Returns true if a request was complete and another one may follow.
bool HttpConnection::ParseOne() {
  switch (state_) {
    case State::kBody:
      return FillBody();
    case State::kChunked:
      return FeedChunks();
    case State::kRefused:
      return FinishRefused();
    default:
      return ParseHeadOnly();
  }
}

bool HttpConnection::ParseHeadOnly() {
  // Empty lines before a request are allowed.
  while (line_ == 0 && Received().starts_with("\r\n")) begin_ += 2;
  if (begin_ == end_) return false;
  const HeadScan scan = ScanHead(Received(), line_);
  if (scan.outcome == HeadScan::Outcome::kBad) return Refuse(400, "malformed request"), false;
  const size_t size = scan.outcome == HeadScan::Outcome::kMore ? end_ - begin_ : scan.size;
  if (size > kMaxHeadBytes) return Refuse(431, "the header is longer than 16384 bytes"), false;
  if (scan.outcome == HeadScan::Outcome::kMore) return false;
  const HeadError error = ParseHead(Received().substr(0, size), head_);
  method_ = head_.method_name;
  target_ = head_.target;
  traceparent_ = head_.traceparent;
  if (shared_->keeps_fields) fields_ = FieldsOf(Received().substr(0, size));
  forbidden_.reset();
  user_.clear();
  line_ = 0;
  request_bytes_ = size;
  if (error.status) return Refuse(error.status, error.message), false;
  if (shared_->context.access || !shared_->options.restrictions.empty())
    forbidden_ = Forbidden(ParseRoute(target_, shared_->options.base_path));
  begin_ += size;
  return BeginBody(end_ - begin_);
}

bool HttpConnection::BeginBody(size_t available) {
  const uint64_t limit = shared_->context.limits.body_bytes;
  const uint64_t length = head_.content_length.value_or(0);
  if (length > limit && !forbidden_) return RefuseLongBody(length), false;
  // The whole body has arrived, so the request uses the receive memory without a copy.
  if (!head_.chunked && length <= available) {
    const auto size = static_cast<size_t>(length);
    Buffer body = Buffer::Borrow(memory_.get() + begin_, size, memory_);
    begin_ += size;
    return FinishRequest(std::move(body)), true;
  }
  if (forbidden_) return RefuseBody(length, available);
  if (head_.expect_continue && available == 0 && exchanges_.empty())
    out_.Text() += "HTTP/1.1 100 Continue\r\n\r\n";
  if (head_.chunked) {
    chunks_.emplace(limit);
    chunked_body_ = std::make_shared<std::string>();
    state_ = State::kChunked;
    return FeedChunks();
  }
  if (!head_.expect_continue && (refused_ = RefusedCall())) {
    to_skip_ = length - available;
    request_bytes_ += available;
    begin_ = end_;
    state_ = State::kRefused;
    return false;
  }
  if (!Reserve(available)) return false;
  body_bytes_ = static_cast<size_t>(length);
  filled_ = 0;
  if (!GrowBody(std::min(body_bytes_, kFirstBytes))) return false;
  filled_ = available;
  if (available) std::memcpy(body_.data(), memory_.get() + begin_, available);
  begin_ = end_;
  state_ = State::kBody;
  return false;
}

// The body of a forbidden request is not read, so the connection ends. If only a quota refuses the request,
// the connection stays open, because the client would reconnect at once.
bool HttpConnection::RefuseBody(uint64_t length, size_t available) {
  constexpr uint64_t kMaxSkipped = uint64_t{1} << 20;
  if (forbidden_->status != 429 || head_.chunked || head_.expect_continue || length > kMaxSkipped)
    return Refuse(std::move(*forbidden_)), false;
  to_skip_ = length - available;
  request_bytes_ += available;
  begin_ = end_;
  state_ = State::kRefused;
  return false;
}

bool HttpConnection::GrowBody(size_t bytes) {
  Buffer larger = BufferPool::Shared().Allocate(bytes);
  if (!larger.defined()) return Refuse(503, "the server has no memory for the body of the request"), false;
  if (filled_) std::memcpy(larger.data(), body_.data(), filled_);
  body_ = std::move(larger);
  return true;
}

bool HttpConnection::FillBody() {
  if (filled_ < body_.size()) return false;
  if (filled_ < body_bytes_) return GrowBody(body_bytes_), false;
  state_ = State::kHead;
  FinishRequest(std::exchange(body_, Buffer()));
  return true;
}

// The answer is sent after the body has arrived, because some clients do not expect an earlier answer.
bool HttpConnection::FinishRefused() {
  if (to_skip_ > 0) return false;
  state_ = State::kHead;
  if (hurried_) head_.keep_alive = false;
  last_request_ = !head_.keep_alive;
  permit_.Release();
  if (forbidden_)
    ReplyNow(std::move(*forbidden_));
  else
    SendRefusal(std::exchange(refused_, nullptr));
  return true;
}

bool HttpConnection::FeedChunks() {
  size_t used = 0;
  const Status status = chunks_->Feed(Received(), *chunked_body_, used);
  begin_ += used;
  request_bytes_ += used;
  if (status.code() == Code::kResourceExhausted)
    return RefuseLongBody(shared_->context.limits.body_bytes + 1), false;
  if (!status.ok()) return Refuse(400, status.message()), false;
  if (!Reserve(used)) return false;
  if (forbidden_ = OverQuota(used); forbidden_) return Refuse(std::move(*forbidden_)), false;
  if (!chunks_->done()) return false;
  state_ = State::kHead;
  chunks_.reset();
  request_bytes_ -= chunked_body_->size();
  auto text = std::exchange(chunked_body_, nullptr);
  char* data = text->data();
  const size_t size = text->size();
  FinishRequest(Buffer::Borrow(data, size, std::move(text)));
  return true;
}

void HttpConnection::FinishRequest(Buffer body) {
  request_bytes_ += body.size();
  // While the server drains, a request that had to hurry is the last one.
  if (hurried_) head_.keep_alive = false;
  last_request_ = !head_.keep_alive;
  Dispatch(std::move(body));
  permit_.Release();
  reservation_ = {};
  // A running request, or a response that shares its memory, still uses the bytes before begin_.
  if ((!exchanges_.empty() && !exchanges_.back()->answered) || memory_.use_count() > 1) floor_ = begin_;
}

void HttpConnection::RefuseLongBody(uint64_t bytes) {
  Refuse(413, StrCat("request JSON size of ", bytes, " bytes exceeds the maximum allowed input size of ",
                     shared_->context.limits.body_bytes, " bytes"));
}

// The rest of the stream cannot be parsed, so the connection ends after this response.
void HttpConnection::Refuse(HttpReply reply) {
  head_.keep_alive = false;
  last_request_ = true;
  state_ = State::kHead;
  begin_ = end_;
  body_ = Buffer();
  chunked_body_ = nullptr;
  refused_ = nullptr;
  permit_.Release();
  reservation_ = {};
  ReplyNow(std::move(reply));
}

}  // namespace tern::server
