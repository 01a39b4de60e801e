#include "server/net/http_client.h"

#include <algorithm>

#include "server/http/chunks.h"
#include "server/http/decimal.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxIdle = 16;
constexpr std::chrono::seconds kIdleTime{20};
constexpr size_t kBlock = 64 << 10;
constexpr size_t kErrorBytes = 64 << 10;  // limit on the body of an error, which only a message quotes
constexpr int kMaxInterim = 8;            // answers of status 1xx

// Reads one answer from a connection.
class AnswerReader {
 public:
  AnswerReader(ClientSocket& socket, const HttpRequest& request, size_t head_bytes)
      : socket_(socket), request_(request), head_bytes_(head_bytes), block_(kBlock, '\0') {}

  Result<HttpAnswer> Read();
  bool began() const { return began_; }  // at least one byte has arrived
  bool keep_alive() const { return keep_alive_ && pending_.empty(); }

 private:
  Status Fill();  // appends received bytes to pending_; fails at the end of the stream
  Result<HttpAnswer> ReadHead(bool& http11);
  Status ReadBody(const BodyFraming& framing, HttpAnswer& answer);
  Status ReadChunks(HttpAnswer& answer);
  Status ReadUntilClose(HttpAnswer& answer);
  Status Deliver(HttpAnswer& answer, std::string_view piece);

  ClientSocket& socket_;
  const HttpRequest& request_;
  const size_t head_bytes_;
  std::string block_, pending_;
  uint64_t delivered_ = 0;
  bool began_ = false, keep_alive_ = false, end_ = false;
};

Status AnswerReader::Fill() {
  TERN_ASSIGN(const size_t got, socket_.Read(block_.data(), block_.size()));
  end_ = got == 0;
  if (end_) return IoError("the server closed the connection before the end of its answer");
  began_ = true;
  pending_.append(block_, 0, got);
  return {};
}

Result<HttpAnswer> AnswerReader::ReadHead(bool& http11) {
  for (int i = 0; i < kMaxInterim; ++i) {
    size_t end;
    while ((end = pending_.find("\r\n\r\n")) == std::string::npos && pending_.size() <= head_bytes_) {
      if (pending_.size() > 8 && !StartsWith(pending_, "HTTP/1."))
        return IoError("the answer is not HTTP/1.1");
      TERN_TRY(Fill());
    }
    if (end > head_bytes_) return IoError("the answer's head has more than ", head_bytes_, " bytes");
    TERN_ASSIGN(HttpAnswer answer, ParseAnswerHead(std::string_view(pending_).substr(0, end)));
    http11 = StartsWith(pending_, "HTTP/1.1");
    pending_.erase(0, end + 4);
    if (answer.status == 101) return IoError("the server switches to another protocol");
    if (answer.status >= 200) return answer;
  }
  return IoError("the server sends too many interim answers");
}

Status AnswerReader::Deliver(HttpAnswer& answer, std::string_view piece) {
  if (piece.empty()) return {};
  if (request_.sink && (answer.status == 200 || answer.status == 206)) {
    delivered_ += piece.size();
    if (delivered_ > request_.max_body_bytes)
      return ResourceExhausted("the answer is longer than ", request_.max_body_bytes, " bytes");
    return request_.sink(answer, piece);
  }
  const uint64_t limit = request_.sink ? kErrorBytes : request_.max_body_bytes;
  if (piece.size() > limit - answer.body.size())
    return ResourceExhausted("the answer is longer than ", limit, " bytes");
  answer.body += piece;
  return {};
}

Status AnswerReader::ReadChunks(HttpAnswer& answer) {
  ChunkDecoder decoder(UINT64_MAX, SIZE_MAX);
  for (;;) {
    std::string piece;
    size_t used = 0;
    const Status fed = decoder.Feed(pending_, piece, used);
    if (!fed.ok()) return IoError("the answer has a malformed chunk");
    pending_.erase(0, used);
    TERN_TRY(Deliver(answer, piece));
    if (decoder.done()) return {};
    TERN_TRY(Fill());
  }
}

Status AnswerReader::ReadUntilClose(HttpAnswer& answer) {
  for (;;) {
    TERN_TRY(Deliver(answer, pending_));
    pending_.clear();
    const Status more = Fill();
    if (end_) return {};
    TERN_TRY(Status(more));
  }
}

Status AnswerReader::ReadBody(const BodyFraming& framing, HttpAnswer& answer) {
  if (framing.kind == BodyFraming::Kind::kChunked) return ReadChunks(answer);
  if (framing.kind == BodyFraming::Kind::kUntilClose) return ReadUntilClose(answer);
  if (framing.kind == BodyFraming::Kind::kNone) return {};
  const bool content = !request_.sink || answer.status == 200 || answer.status == 206;
  if (content && framing.length > request_.max_body_bytes)
    return ResourceExhausted("the answer has ", framing.length, " bytes, more than ",
                             request_.max_body_bytes);
  for (uint64_t left = framing.length;;) {
    const size_t take = static_cast<size_t>(std::min<uint64_t>(left, pending_.size()));
    TERN_TRY(Deliver(answer, std::string_view(pending_).substr(0, take)));
    pending_.erase(0, take);
    left -= take;
    if (left == 0) return {};
    TERN_TRY(Fill());
  }
}

Result<HttpAnswer> AnswerReader::Read() {
  bool http11 = false;
  TERN_ASSIGN(HttpAnswer answer, ReadHead(http11));
  TERN_ASSIGN(const BodyFraming framing, FramingOf(answer, request_.method, http11));
  TERN_TRY(ReadBody(framing, answer));
  keep_alive_ = framing.keep_alive;
  return answer;
}

std::string RequestText(const Url& url, const HttpRequest& request) {
  std::string text = StrCat(request.method, " ", url.path, " HTTP/1.1\r\nHost: ", HostField(url), "\r\n");
  for (const auto& [name, value] : request.fields) text += StrCat(name, ": ", value, "\r\n");
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT")
    text += StrCat("Content-Length: ", request.body.size(), "\r\n");
  return StrCat(text, "\r\n", request.body);
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Returns whether a field authorizes the request. Such a field must not be sent to another host.
bool Authorizes(std::string_view name) {
  return EqualsIgnoreCase(name, "authorization") || EqualsIgnoreCase(name, "cookie") ||
         StartsWith(name, "x-amz-") || StartsWith(name, "X-aws-") || StartsWith(name, "Metadata-");
}

Result<Url> RedirectTarget(const Url& from, const HttpAnswer& answer) {
  const std::string* location = answer.Find("location");
  if (!location) return IoError("the server redirects to no place");
  Url to = from;
  if (StartsWith(*location, "/") && !StartsWith(*location, "//")) {
    to.path = *location;
  } else {
    if (!StartsWith(*location, "http://") && !StartsWith(*location, "https://"))
      return InvalidArgument("the server redirects to a place that is not a URL");
    TERN_ASSIGN(to, ParseUrl(*location, 0));
  }
  to.path = to.path.substr(0, to.path.find('#'));
  if (from.tls && !to.tls) return InvalidArgument("the server redirects from https to http");
  return to;
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::Create(const HttpClientOptions& options) {
  std::unique_ptr<HttpClient> client(new HttpClient(options));
  if (!options.authorities.empty()) TERN_TRY(client->Tls().status());
  return client;
}

Result<std::shared_ptr<ClientTls>> HttpClient::Tls() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!tls_) {
    TERN_ASSIGN(tls_, ClientTls::Create(options_.authorities));
  }
  return tls_;
}

std::unique_ptr<ClientSocket> HttpClient::TakeIdle(const std::string& place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(idle_, [&](const auto& entry) {
    return now - entry.second.since > kIdleTime || !entry.second.socket->Quiet();
  });
  const auto found = idle_.find(place);
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<ClientSocket> socket = std::move(found->second.socket);
  idle_.erase(found);
  return socket;
}

void HttpClient::Keep(const std::string& place, std::unique_ptr<ClientSocket> socket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.emplace(place, Idle{std::move(socket), Clock::now()});
}

Result<HttpAnswer> HttpClient::SendOnce(const Url& url, const HttpRequest& request, const Stop& stop) {
  for (const auto& [name, value] : request.fields)
    if (StrCat(name, value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
      return InvalidArgument("field '", name, "' of a request has a line end");
  const std::string place = PlaceOf(url), text = RequestText(url, request);
  for (bool reuse = true;; reuse = false) {
    std::unique_ptr<ClientSocket> socket = reuse ? TakeIdle(place) : nullptr;
    const bool fresh = !socket;
    if (fresh) {
      std::shared_ptr<ClientTls> tls;
      if (url.tls) {
        TERN_ASSIGN(tls, Tls());
      }
      TERN_ASSIGN(socket, ClientSocket::Connect(url, tls, options_.connect_limit, stop));
    }
    socket->SetLimits(stop, options_.idle_limit);
    AnswerReader reader(*socket, request, options_.head_bytes);
    Status sent = socket->Write(text);
    Result<HttpAnswer> answer = sent.ok() ? reader.Read() : Result<HttpAnswer>(std::move(sent));
    if (answer.ok()) {
      if (reader.keep_alive()) Keep(place, std::move(socket));
      return answer;
    }
    // A server may close an idle connection at any time. A request that it has not begun to answer is sent
    // again on a fresh connection, unless that could execute it twice.
    const bool closed = !fresh && !reader.began() && answer.status().code() == Code::kIo;
    if (!closed || request.method == "POST") return answer;
  }
}

Result<HttpAnswer> HttpClient::Send(const Url& url, const HttpRequest& request, const Stop& stop) {
  Url at = url;
  HttpRequest sent = request;
  for (int left = request.redirects;; --left) {
    TERN_ASSIGN(HttpAnswer answer, SendOnce(at, sent, stop));
    if (left <= 0 || !IsRedirect(answer.status) || request.method != "GET") return answer;
    TERN_ASSIGN(const Url next, RedirectTarget(at, answer));
    if (next.host != at.host || next.port != at.port)
      std::erase_if(sent.fields, [](const auto& field) { return Authorizes(field.first); });
    at = next;
  }
}

Result<HttpAnswer> Fetch(const Url& url, std::string_view method, std::string_view content_type,
                         std::string_view body, milliseconds limit) {
  HttpClientOptions options;
  options.connect_limit = options.idle_limit = limit;
  TERN_ASSIGN(const std::unique_ptr<HttpClient> client, HttpClient::Create(options));
  HttpRequest request;
  request.method = method;
  request.body = body;
  request.fields = {{"Connection", "close"}};
  if (!content_type.empty()) request.fields.emplace_back("Content-Type", content_type);
  if (!url.token.empty()) request.fields.emplace_back("Authorization", StrCat("Bearer ", url.token));
  Stop stop;
  stop.deadline = Stop::Clock::now() + limit;
  Result<HttpAnswer> answer = client->Send(url, request, stop);
  if (!answer.ok() && answer.status().code() == Code::kCancelled)
    return IoError(PlaceOf(url), " does not answer within ", limit.count(), " ms");
  return answer;
}

}  // namespace tern::server
