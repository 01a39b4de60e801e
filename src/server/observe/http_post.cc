#include "server/observe/http_post.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tern::server {
namespace {

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

bool Wait(int fd, short events, Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd p{fd, events, 0};
  return left > 0 && poll(&p, 1, static_cast<int>(left)) > 0;
}

bool Connect(int fd, const addrinfo& address, Clock::time_point end) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS || !Wait(fd, POLLOUT, end)) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

int OpenSocket(const Url& url, Clock::time_point end) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(url.host.c_str(), StrCat(url.port).c_str(), &hints, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* a = found; a && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !Connect(fd, *a, end)) fd = (close(fd), -1);
  }
  freeaddrinfo(found);
  return fd;
}

Status Send(int fd, std::string_view data, Clock::time_point end) {
  while (!data.empty()) {
    const ssize_t n = send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return IoError("cannot send: ", std::strerror(errno));
    if (n > 0)
      data.remove_prefix(static_cast<size_t>(n));
    else if (!Wait(fd, POLLOUT, end))
      return IoError("the server does not read the request");
  }
  return {};
}

// Reads until the server closes the connection, which it does after the answer.
Result<std::string> ReceiveAll(int fd, Clock::time_point end) {
  std::string text;
  char block[16384];
  for (;;) {
    const ssize_t n = recv(fd, block, sizeof block, 0);
    if (n == 0) return text;
    if (n < 0 && errno != EAGAIN && errno != EINTR) return IoError("cannot receive: ", std::strerror(errno));
    if (n > 0)
      text.append(block, static_cast<size_t>(n));
    else if (!Wait(fd, POLLIN, end))
      return IoError("the server does not answer");
    if (text.size() > (64u << 20)) return IoError("the answer has more than 64 MiB");
  }
}

bool HasHeader(std::string_view head, std::string_view lower_case) {
  std::string text(head);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text.find(lower_case) != std::string::npos;
}

std::string JoinChunks(std::string_view body) {
  std::string out;
  for (;;) {
    const size_t line = body.find("\r\n");
    if (line == std::string_view::npos) return out;
    size_t size = 0;
    for (const char c : body.substr(0, line)) {
      const int digit = c >= '0' && c <= '9'                 ? c - '0'
                        : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                             : -1;
      if (digit < 0 || size > body.size()) break;
      size = size * 16 + static_cast<size_t>(digit);
    }
    body.remove_prefix(line + 2);
    if (size == 0 || size > body.size()) return out;
    out += body.substr(0, size);
    body.remove_prefix(std::min(body.size(), size + 2));
  }
}

Result<HttpAnswer> ParseAnswer(const std::string& text) {
  const size_t head = text.find("\r\n\r\n");
  int64_t status = 0;
  if (head == std::string::npos || !StartsWith(text, "HTTP/1.") || text.size() < 12 ||
      !ParseInt(std::string_view(text).substr(9, 3), status))
    return IoError("the answer is not HTTP");
  const bool chunked = HasHeader(std::string_view(text).substr(0, head), "\r\ntransfer-encoding: chunked");
  const std::string_view body = std::string_view(text).substr(head + 4);
  return HttpAnswer{static_cast<int>(status), chunked ? JoinChunks(body) : std::string(body)};
}

}  // namespace

Result<Url> ParseUrl(std::string_view text, int default_port) {
  const std::string_view whole = text;
  Url url;
  url.port = default_port;
  if (StartsWith(text, "https://"))
    return Unsupported("'", whole, "': TLS is not supported here; use http://");
  if (StartsWith(text, "http://"))
    text.remove_prefix(7);
  else if (text.find("://") != std::string_view::npos)
    return InvalidArgument("'", whole, "' is not a URL of the form http://HOST:PORT/PATH");
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) url.path = text.substr(slash);
  text = text.substr(0, slash);
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  int64_t port = default_port;
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    if (!ParseInt(text.substr(colon + 1), port) || port < 1 || port > 65535)
      return InvalidArgument("'", whole, "' has no valid port");
    text = text.substr(0, colon);
  }
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (text.empty() || url.path.find_first_of(" \r\n") != std::string::npos ||
      text.find_first_of(" \r\n") != std::string_view::npos)
    return InvalidArgument("'", whole, "' is not a URL of the form http://HOST:PORT/PATH");
  url.host = text;
  url.port = static_cast<int>(port);
  return url;
}

std::string AuthorizationLine(const Url& url) {
  return url.token.empty() ? "" : StrCat("Authorization: Bearer ", url.token, "\r\n");
}

Result<HttpAnswer> Fetch(const Url& url, std::string_view method, std::string_view content_type,
                         std::string_view body, std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  const Socket socket(OpenSocket(url, end));
  if (socket.fd() < 0) return IoError("cannot connect to ", url.host, ":", url.port);
  std::string head = StrCat(method, " ", url.path, " HTTP/1.1\r\nHost: ", url.host, ":", url.port,
                            "\r\nConnection: close\r\n", AuthorizationLine(url));
  if (method != "GET")
    head += StrCat("Content-Type: ", content_type, "\r\nContent-Length: ", body.size(), "\r\n");
  head += "\r\n";
  TERN_TRY(Send(socket.fd(), head, end));
  TERN_TRY(Send(socket.fd(), body, end));
  TERN_ASSIGN(const std::string text, ReceiveAll(socket.fd(), end));
  return ParseAnswer(text);
}

}  // namespace tern::server
