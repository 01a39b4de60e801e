// The HTTP/1.1 client of the load generator. It keeps the connection alive and sends one request at a time.
#include <algorithm>
#include <cstring>

#include "server/load/socket_client.h"

namespace tern::server::loadgen {
namespace {

constexpr size_t kMaxHead = 64 << 10;

// Finds a header's value in the head of an answer. `name` must be in lower case.
std::string_view HeaderOf(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    if (!std::equal(name.begin(), name.end(), line.begin(), [&](char b, char a) { return same(a, b); }))
      continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    return line;
  }
  return {};
}

class HttpClient final : public SocketClient {
 public:
  using SocketClient::SocketClient;

 protected:
  void OnOpen() override { Reset(); }
  void Start(const RequestBytes& request) override {
    Reset();
    output_ = request.bytes;
  }
  int Output(iovec* parts) override {
    parts[0] = {const_cast<char*>(output_.data()), output_.size()};
    return output_.empty() ? 0 : 1;
  }
  void OnSent(size_t bytes) override { output_.remove_prefix(bytes); }
  bool OnReceived(std::string_view bytes) override;
  bool CloseAfterAnswer() const override { return close_; }

 private:
  void Reset() {
    head_.clear();
    body_.clear();
    left_ = chunk_left_ = 0;
    in_body_ = chunked_ = close_ = false;
  }
  bool ParseHead();
  bool TakeBody(std::string_view bytes);
  bool TakeChunks(std::string_view bytes);
  void Keep(std::string_view bytes) {
    if ((keep_body_ || status_ != 200) && body_.size() < (64u << 20)) body_ += bytes;
  }
  void Report();

  std::string_view output_;
  std::string head_, body_, chunk_line_;
  uint64_t left_ = 0, chunk_left_ = 0;
  int status_ = 0;
  bool in_body_ = false, chunked_ = false, close_ = false, last_chunk_ = false;
};

bool HttpClient::OnReceived(std::string_view bytes) {
  if (!busy()) return false;  // the server sent bytes without a request
  if (in_body_) return TakeBody(bytes);
  const size_t old = head_.size();
  head_ += bytes;
  const size_t end = head_.find("\r\n\r\n", old > 3 ? old - 3 : 0);
  if (end == std::string::npos) return head_.size() < kMaxHead;
  const std::string rest = head_.substr(end + 4);
  head_.resize(end);
  return ParseHead() && TakeBody(rest);
}

bool HttpClient::ParseHead() {
  int64_t status = 0, length = 0;
  if (head_.size() < 12 || head_.compare(0, 7, "HTTP/1.") != 0 ||
      !ParseInt(std::string_view(head_).substr(9, 3), status))
    return false;
  status_ = static_cast<int>(status);
  close_ = HeaderOf(head_, "connection") == "close";
  chunked_ = HeaderOf(head_, "transfer-encoding") == "chunked";
  last_chunk_ = false;
  chunk_line_.clear();
  in_body_ = true;
  if (chunked_) return true;
  const std::string_view text = HeaderOf(head_, "content-length");
  if (!text.empty() && (!ParseInt(text, length) || length < 0)) return false;
  left_ = static_cast<uint64_t>(length);
  return true;
}

bool HttpClient::TakeBody(std::string_view bytes) {
  if (chunked_) return TakeChunks(bytes);
  if (bytes.size() > left_) return false;
  Keep(bytes);
  left_ -= bytes.size();
  if (left_ == 0) Report();
  return true;
}

// chunk_line_ collects the line with a chunk's size. chunk_left_ includes the CR LF at the end of the chunk.
bool HttpClient::TakeChunks(std::string_view bytes) {
  while (!bytes.empty()) {
    if (chunk_left_ > 0) {
      const size_t n = std::min<uint64_t>(chunk_left_, bytes.size());
      const uint64_t data = chunk_left_ > 2 ? chunk_left_ - 2 : 0;
      Keep(bytes.substr(0, std::min<uint64_t>(n, data)));
      chunk_left_ -= n;
      bytes.remove_prefix(n);
      if (chunk_left_ == 0 && last_chunk_) return Report(), bytes.empty();
      continue;
    }
    chunk_line_ += bytes.front();
    bytes.remove_prefix(1);
    if (chunk_line_.back() != '\n') {
      if (chunk_line_.size() > 64) return false;
      continue;
    }
    uint64_t size = 0;
    for (const char c : chunk_line_) {
      const char l = static_cast<char>(c | 32);
      if (c >= '0' && c <= '9')
        size = size * 16 + static_cast<uint64_t>(c - '0');
      else if (l >= 'a' && l <= 'f')
        size = size * 16 + static_cast<uint64_t>(l - 'a' + 10);
      else
        break;
      if (size > (uint64_t{1} << 40)) return false;
    }
    last_chunk_ = size == 0;
    chunk_left_ = size + 2;
    chunk_line_.clear();
  }
  return true;
}

void HttpClient::Report() {
  Answer answer;
  answer.status = status_;
  answer.ok = status_ == 200;
  answer.refused = status_ == 429 || status_ == 503;
  if (!answer.ok) answer.message = StrCat("HTTP ", status_, ": ", std::string_view(body_).substr(0, 200));
  if (keep_body_) answer.body = std::move(body_);
  in_body_ = false;
  Finish(std::move(answer));
}

}  // namespace

std::unique_ptr<ClientConnection> ConnectHttp(Loop& loop, const Url& url, AnswerSink& sink) {
  return std::make_unique<HttpClient>(loop, url, sink);
}

}  // namespace tern::server::loadgen
