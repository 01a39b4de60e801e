#include "server/net/client_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace tern::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlice{20};  // the longest time between two checks of `stop`

class OpenSslClient : public ClientTls {
 public:
  ~OpenSslClient() override { SSL_CTX_free(context_); }
  Status Load(const std::string& authorities);
  SSL_CTX* context() const { return context_; }

 private:
  SSL_CTX* context_ = nullptr;
};

std::string TlsError() {
  char text[256] = "the connection ended";
  if (const unsigned long error = ERR_peek_last_error()) ERR_error_string_n(error, text, sizeof text);
  ERR_clear_error();
  return text;
}

Status OpenSslClient::Load(const std::string& authorities) {
  context_ = SSL_CTX_new(TLS_client_method());
  if (!context_) return Status(Code::kInternal, StrCat("cannot create a TLS context: ", TlsError()));
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  const int loaded = authorities.empty()
                         ? SSL_CTX_set_default_verify_paths(context_)
                         : SSL_CTX_load_verify_locations(context_, authorities.c_str(), nullptr);
  if (loaded != 1)
    return InvalidArgument("cannot read the certificate authorities '", authorities, "': ", TlsError());
  return {};
}

class ConnectedSocket final : public ClientSocket {
 public:
  ConnectedSocket(int fd, std::shared_ptr<ClientTls> tls) : fd_(fd), tls_(std::move(tls)) {}
  ~ConnectedSocket() override {
    if (ssl_) SSL_free(ssl_);
    close(fd_);
  }
  Status Write(std::string_view data) override;
  Result<size_t> Read(char* data, size_t size) override;
  bool Quiet() const override;
  void SetLimits(const Stop& stop, milliseconds idle) override {
    stop_ = stop;
    idle_ = idle;
  }
  Status Wait(short events, const char* what) const;
  Status Handshake(const Url& url);

 private:
  // Waits until the socket is readable or writable, as the failed SSL function needs. Fails if a repetition
  // of that function cannot help.
  Status AfterTls(int result, const char* what);

  const int fd_;
  const std::shared_ptr<ClientTls> tls_;
  SSL* ssl_ = nullptr;
  Stop stop_;
  milliseconds idle_{0};
};

Status ConnectedSocket::Wait(short events, const char* what) const {
  const auto end = Stop::Clock::now() + idle_;
  for (;;) {
    TERN_TRY(stop_.Check());
    pollfd p{fd_, events, 0};
    const int ready = poll(&p, 1, static_cast<int>(kSlice.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return IoError("cannot wait for the server: ", std::strerror(errno));
    if (Stop::Clock::now() >= end)
      return IoError("the server does not ", what, " within ", idle_.count(), " ms");
  }
}

Status ConnectedSocket::AfterTls(int result, const char* what) {
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ) return Wait(POLLIN, what);
  if (error == SSL_ERROR_WANT_WRITE) return Wait(POLLOUT, what);
  return IoError("TLS: ", TlsError());
}

Status ConnectedSocket::Handshake(const Url& url) {
  ssl_ = SSL_new(static_cast<OpenSslClient&>(*tls_).context());
  if (!ssl_ || SSL_set_fd(ssl_, fd_) != 1) return Status(Code::kInternal, "cannot start TLS");
  // An IP address is compared with the addresses in the certificate, a host name with the names.
  in6_addr ignored;
  const bool address = inet_pton(AF_INET, url.host.c_str(), &ignored) == 1 ||
                       inet_pton(AF_INET6, url.host.c_str(), &ignored) == 1;
  X509_VERIFY_PARAM* expected = SSL_get0_param(ssl_);
  X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int set = address ? X509_VERIFY_PARAM_set1_ip_asc(expected, url.host.c_str())
                          : X509_VERIFY_PARAM_set1_host(expected, url.host.c_str(), url.host.size());
  if (set != 1 || (!address && SSL_set_tlsext_host_name(ssl_, url.host.c_str()) != 1))
    return InvalidArgument("'", url.host, "' is not the name of a host");
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(ssl_);
    if (result == 1) return {};
    const long verified = SSL_get_verify_result(ssl_);
    if (verified != X509_V_OK) {
      ERR_clear_error();
      return InvalidArgument("the certificate of ", PlaceOf(url),
                             " is not accepted: ", X509_verify_cert_error_string(verified));
    }
    TERN_TRY(AfterTls(result, "answer the TLS handshake"));
  }
}

Status ConnectedSocket::Write(std::string_view data) {
  while (!data.empty()) {
    if (ssl_) {
      ERR_clear_error();
      const int sent = SSL_write(ssl_, data.data(), static_cast<int>(std::min<size_t>(data.size(), INT_MAX)));
      if (sent > 0)
        data.remove_prefix(static_cast<size_t>(sent));
      else
        TERN_TRY(AfterTls(sent, "read the request"));
      continue;
    }
    const ssize_t sent = send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent > 0)
      data.remove_prefix(static_cast<size_t>(sent));
    else if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return IoError("cannot send: ", std::strerror(errno));
    else
      TERN_TRY(Wait(POLLOUT, "read the request"));
  }
  return {};
}

Result<size_t> ConnectedSocket::Read(char* data, size_t size) {
  for (;;) {
    TERN_TRY(stop_.Check());
    if (ssl_) {
      ERR_clear_error();
      const int got = SSL_read(ssl_, data, static_cast<int>(std::min<size_t>(size, INT_MAX)));
      if (got > 0) return static_cast<size_t>(got);
      if (SSL_get_error(ssl_, got) == SSL_ERROR_ZERO_RETURN) return size_t{0};
      TERN_TRY(AfterTls(got, "answer"));
      continue;
    }
    const ssize_t got = recv(fd_, data, size, 0);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EAGAIN && errno != EINTR) return IoError("cannot receive: ", std::strerror(errno));
    TERN_TRY(Wait(POLLIN, "answer"));
  }
}

bool ConnectedSocket::Quiet() const {
  pollfd p{fd_, POLLIN, 0};
  return poll(&p, 1, 0) == 0;
}

Result<std::unique_ptr<ConnectedSocket>> Open(const addrinfo& address, const std::shared_ptr<ClientTls>& tls,
                                              milliseconds limit, const Stop& stop) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return IoError("cannot open a socket: ", std::strerror(errno));
  auto out = std::make_unique<ConnectedSocket>(fd, tls);
  out->SetLimits(stop, limit);
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(fd, address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return IoError(std::strerror(errno));
    TERN_TRY(out->Wait(POLLOUT, "accept the connection"));
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
    return IoError(std::strerror(error));
  return out;
}

}  // namespace

Result<std::shared_ptr<ClientTls>> ClientTls::Create(const std::string& authorities) {
  auto tls = std::make_shared<OpenSslClient>();
  TERN_TRY(tls->Load(authorities));
  return std::shared_ptr<ClientTls>(std::move(tls));
}

Result<std::unique_ptr<ClientSocket>> ClientSocket::Connect(const Url& url,
                                                            const std::shared_ptr<ClientTls>& tls,
                                                            milliseconds limit, const Stop& stop) {
  TERN_CHECK(!url.tls || tls);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(url.host.c_str(), StrCat(url.port).c_str(), &hints, &found);
  if (error != 0) return IoError("cannot look up the host '", url.host, "': ", gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  Status last = IoError("the host has no address");
  for (const addrinfo* a = found; a; a = a->ai_next) {
    auto socket = Open(*a, tls, limit, stop);
    if (!socket.ok()) {
      last = socket.TakeStatus();
      if (last.code() == Code::kCancelled) return last;
      continue;
    }
    if (url.tls) TERN_TRY((*socket)->Handshake(url));
    return std::unique_ptr<ClientSocket>(std::move(*socket));
  }
  return IoError("cannot connect to ", PlaceOf(url), ": ", last.message());
}

}  // namespace tern::server
