#include "server/net/stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "server/net/sockets.h"

namespace tern::server {
namespace {

Stream::Outcome OutcomeOfErrno() {
  return errno == EAGAIN || errno == EWOULDBLOCK ? Stream::Outcome::kWouldBlock : Stream::Outcome::kClosed;
}

class PlainStream : public Stream {
 public:
  explicit PlainStream(int fd) : fd_(fd) {}
  ~PlainStream() override { close(fd_); }
  int fd() const override { return fd_; }

  Outcome Read(void* data, size_t size, size_t& read) override {
    read = 0;
    ssize_t got = 0;
    do got = recv(fd_, data, size, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0) read = static_cast<size_t>(got);
    if (got < 0) return OutcomeOfErrno();
    return got > 0 ? Outcome::kDone : Outcome::kClosed;
  }

  Outcome ReadParts(const iovec* parts, int count, size_t& read) override {
    read = 0;
    ssize_t got = 0;
    do got = readv(fd_, parts, count);
    while (got < 0 && errno == EINTR);
    if (got > 0) read = static_cast<size_t>(got);
    if (got < 0) return OutcomeOfErrno();
    return got > 0 ? Outcome::kDone : Outcome::kClosed;
  }

  Outcome Write(const iovec* parts, int count, size_t& written) override {
    written = 0;
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    ssize_t sent = 0;
    do sent = sendmsg(fd_, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return OutcomeOfErrno();
    written = static_cast<size_t>(sent);
    return Outcome::kDone;
  }

  void ShutdownWrite() override { shutdown(fd_, SHUT_WR); }
  std::string Peer() const override { return PeerName(fd_); }
  std::string Protocol() const override { return {}; }

 private:
  const int fd_;
};

}  // namespace

std::unique_ptr<Stream> MakePlainStream(int fd) { return std::make_unique<PlainStream>(fd); }

std::string PeerName(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "closed";
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text);
    return StrCat(text, ":", static_cast<int>(ntohs(ip.sin_port)));
  }
  if (address.ss_family == AF_INET6) {
    const auto& ip = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text);
    return StrCat("[", text, "]:", static_cast<int>(ntohs(ip.sin6_port)));
  }
  return "unix";
}

}  // namespace tern::server
