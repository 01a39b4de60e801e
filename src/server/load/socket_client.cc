#include "server/load/socket_client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tern::server::loadgen {
namespace {

Result<int> StartConnecting(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(url.host.c_str(), StrCat(url.port).c_str(), &hints, &found); error != 0)
    return IoError("cannot find ", url.host, ": ", gai_strerror(error));
  // Prefers IPv4, because a server that listens on 0.0.0.0 cannot be reached through ::1.
  const addrinfo* chosen = found;
  for (const addrinfo* a = found; a; a = a->ai_next)
    if (a->ai_family == AF_INET) chosen = a;
  const int fd = socket(chosen->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int failed = fd < 0 ? -1 : connect(fd, chosen->ai_addr, chosen->ai_addrlen);
  const int error = errno;
  freeaddrinfo(found);
  if (fd >= 0 && (failed == 0 || error == EINPROGRESS)) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }
  if (fd >= 0) close(fd);
  return IoError("cannot connect to ", url.host, ":", url.port, ": ", std::strerror(error));
}

}  // namespace

Status SocketClient::Open() {
  TERN_ASSIGN(fd_, StartConnecting(url_));
  ++life_;
  connected_ = false;
  watching_write_ = true;
  OnOpen();
  return loop_.Add(fd_, this, true, true);
}

void SocketClient::Close() {
  if (fd_ < 0) return;
  loop_.Remove(fd_, this);
  close(fd_);
  fd_ = -1;
}

void SocketClient::Send(const RequestBytes& request, bool keep_body) {
  busy_ = true;
  keep_body_ = keep_body;
  if (fd_ < 0) {
    if (const Status status = Open(); !status.ok()) return Fail(status.message());
  }
  Start(request);
  if (connected_) Flush();
}

void SocketClient::Fail(const std::string& message) {
  Close();
  Answer answer;
  answer.status = -1;
  answer.message = message;
  if (busy_) Finish(std::move(answer));
}

void SocketClient::Abort(const std::string& message) { Fail(message); }

void SocketClient::Finish(Answer answer) {
  busy_ = false;
  if (CloseAfterAnswer()) Close();
  sink_.OnAnswer(*this, answer);
}

void SocketClient::OnEvents(bool readable, bool writable, bool hang_up) {
  const uint64_t life = life_;
  if (writable || (hang_up && !connected_)) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error)
      return Fail(StrCat("cannot connect to ", url_.host, ":", url_.port, ": ", std::strerror(error)));
    connected_ = true;
    Flush();
  }
  if ((readable || hang_up) && fd_ >= 0 && life == life_) Receive();
}

void SocketClient::Flush() {
  for (;;) {
    iovec parts[kMaxParts];
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<size_t>(Output(parts));
    if (message.msg_iovlen == 0) break;
    const ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!watching_write_) loop_.Change(fd_, this, true, watching_write_ = true);
      return;
    }
    if (n < 0) return Fail(StrCat("the connection broke: ", std::strerror(errno)));
    OnSent(static_cast<size_t>(n));
  }
  if (watching_write_) loop_.Change(fd_, this, true, watching_write_ = false);
}

// Reads once. If bytes are left, the loop reports another event.
void SocketClient::Receive() {
  thread_local char block[256 << 10];
  const uint64_t life = life_;
  const ssize_t n = recv(fd_, block, sizeof block, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) return Fail(StrCat("the connection broke: ", std::strerror(errno)));
  if (n == 0) return Fail("the server closed the connection");
  // All connections of the thread share `block`. An answer may start a request on another connection, so
  // OnReceived must copy the bytes that it needs before it reports the answer.
  if (!OnReceived({block, static_cast<size_t>(n)})) return Fail("the answer violates the protocol");
  if (fd_ >= 0 && life == life_ && connected_) Flush();
}

}  // namespace tern::server::loadgen
