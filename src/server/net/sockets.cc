#include "server/net/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tern::server {
namespace {

constexpr int kBacklog = 1024;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Result<Address> ResolveTcp(std::string host, int port) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string service = std::to_string(port);
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &found);
  if (error != 0) return InvalidArgument("cannot resolve the address '", host, "': ", gai_strerror(error));
  Address address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

Status CannotListen() {
  const int error = errno;
  return Unavailable(
      "cannot listen: ", strerror(error),
      error == EADDRINUSE
          ? "; stop the other program, or choose other ports (http-port, grpc-port, metrics-port)"
          : "");
}

Result<Socket> Bind(const Address& address, bool share) {
  Socket s(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (s.fd() < 0) return IoError("cannot create a socket: ", strerror(errno));
  const int one = 1;
  setsockopt(s.fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (share && setsockopt(s.fd(), SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) != 0)
    return IoError("cannot share a port: ", strerror(errno));
  if (bind(s.fd(), address.get(), address.size) != 0) return CannotListen();
  return s;
}

int PortOf(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size);
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(storage).sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in&>(storage).sin_port);
}

Status Listen(const Socket& s) {
  if (listen(s.fd(), kBacklog) != 0) return CannotListen();
  return {};
}

Result<ListenSockets> OpenTcp(const std::string& host, int port, int count) {
  if (port < 0 || port > 65535) return InvalidArgument("invalid port ", port);
  TERN_ASSIGN(Address address, ResolveTcp(host, port));
  // The sockets below share their port, so they would not notice another server that shares it. The probe
  // does not share the port, so its bind fails if another server uses it.
  if (port != 0) {
    TERN_ASSIGN(const Socket probe, Bind(address, false));
    TERN_TRY(Listen(probe));
  }
  std::vector<Socket> sockets;
  for (int i = 0; i < count; ++i) {
    TERN_ASSIGN(Socket s, Bind(address, true));
    TERN_TRY(Listen(s));
    if (i == 0) {
      port = PortOf(s.fd());
      TERN_ASSIGN(address, ResolveTcp(host, port));
    }
    sockets.push_back(std::move(s));
  }
  ListenSockets result;
  result.port = port;
  for (Socket& s : sockets) result.fds.push_back(s.Release());
  return result;
}

// Returns whether the path is free. Removes the socket of a server that no longer runs.
bool RemoveStaleSocket(const Address& address, const char* path) {
  struct stat info {};
  if (lstat(path, &info) != 0) return true;
  if (!S_ISSOCK(info.st_mode)) return false;
  const Socket s(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(s.fd(), address.get(), address.size) == 0 || errno != ECONNREFUSED) return false;
  return unlink(path) == 0;
}

// All loops watch the same socket.
Result<ListenSockets> OpenUnix(const std::string& path, int count) {
  Address address;
  auto& name = reinterpret_cast<sockaddr_un&>(address.storage);
  if (path.empty() || path.size() >= sizeof name.sun_path)
    return InvalidArgument("the path of a UNIX socket must have 1 to ", sizeof name.sun_path - 1,
                           " bytes, got ", path.size());
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  address.size = sizeof name;
  if (!RemoveStaleSocket(address, path.c_str()))
    return Unavailable("cannot listen on 'unix:", path, "': it exists already");
  TERN_ASSIGN(const Socket first, Bind(address, false));
  TERN_TRY(Listen(first));
  ListenSockets result;
  result.unix_path = path;
  std::vector<Socket> sockets;
  for (int i = 0; i < count; ++i) {
    sockets.emplace_back(fcntl(first.fd(), F_DUPFD_CLOEXEC, 0));
    if (sockets.back().fd() < 0) {
      unlink(path.c_str());
      return IoError("cannot share a socket: ", strerror(errno));
    }
  }
  for (Socket& s : sockets) result.fds.push_back(s.Release());
  return result;
}

}  // namespace

Result<ListenSockets> OpenListenSockets(const std::string& address, int port, int count) {
  if (address.starts_with("unix:")) return OpenUnix(address.substr(5), count);
  auto sockets = OpenTcp(address, port, count);
  if (!sockets.ok()) return sockets.TakeStatus().While(StrCat("listening on ", address, ":", port));
  return sockets;
}

}  // namespace tern::server
