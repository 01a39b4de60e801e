// TLS 1.2 or newer by OpenSSL, with ALPN and client certificates.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "server/net/sockets.h"

namespace tern::server {
namespace {

constexpr size_t kRecordBytes = 16384;

class TlsStream : public Stream {
 public:
  TlsStream(int fd, SSL* ssl) : fd_(fd), ssl_(ssl) {}
  ~TlsStream() override {
    SSL_free(ssl_);
    close(fd_);
  }
  int fd() const override { return fd_; }
  Outcome Read(void* data, size_t size, size_t& read) override;
  Outcome Write(const iovec* parts, int count, size_t& written) override;
  bool buffered() const override { return SSL_has_pending(ssl_) == 1; }
  bool wants_write() const override { return wants_write_; }
  void ShutdownWrite() override;
  std::string Peer() const override { return PeerName(fd_); }
  std::string Protocol() const override;

 private:
  Outcome OutcomeOf(int result);

  const int fd_;
  SSL* const ssl_;
  bool wants_write_ = false, failed_ = false;
};

Stream::Outcome TlsStream::OutcomeOf(int result) {
  const int error = SSL_get_error(ssl_, result);
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Outcome::kWouldBlock;
  failed_ = error != SSL_ERROR_ZERO_RETURN;
  return Outcome::kClosed;
}

Stream::Outcome TlsStream::Read(void* data, size_t size, size_t& read) {
  read = 0;
  if (failed_) return Outcome::kClosed;
  ERR_clear_error();
  const int got = SSL_read(ssl_, data, static_cast<int>(std::min<size_t>(size, INT_MAX)));
  if (got <= 0) return OutcomeOf(got);
  wants_write_ = false;
  read = static_cast<size_t>(got);
  return Outcome::kDone;
}

// Returns the first bytes of the parts, at most one TLS record. A repeated call returns the same bytes,
// because OpenSSL requires that for a repeated SSL_write.
std::string_view FirstRecord(const iovec* parts, int count, char* memory) {
  while (count > 0 && parts->iov_len == 0) ++parts, --count;
  if (count > 0 && (parts->iov_len >= kRecordBytes || count == 1))
    return {static_cast<const char*>(parts->iov_base), std::min(parts->iov_len, kRecordBytes)};
  size_t size = 0;
  for (int i = 0; i < count && size < kRecordBytes; ++i) {
    const size_t bytes = std::min(parts[i].iov_len, kRecordBytes - size);
    if (bytes) std::memcpy(memory + size, parts[i].iov_base, bytes);
    size += bytes;
  }
  return {memory, size};
}

Stream::Outcome TlsStream::Write(const iovec* parts, int count, size_t& written) {
  written = 0;
  if (failed_) return Outcome::kClosed;
  char memory[kRecordBytes];
  const std::string_view record = FirstRecord(parts, count, memory);
  if (record.empty()) return Outcome::kDone;
  ERR_clear_error();
  const int sent = SSL_write(ssl_, record.data(), static_cast<int>(record.size()));
  if (sent <= 0) return OutcomeOf(sent);
  wants_write_ = false;
  written = static_cast<size_t>(sent);
  return Outcome::kDone;
}

void TlsStream::ShutdownWrite() {
  ERR_clear_error();
  if (!failed_) SSL_shutdown(ssl_);
  shutdown(fd_, SHUT_WR);
}

std::string TlsStream::Protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

class OpenSslContext : public TlsContext {
 public:
  ~OpenSslContext() override { SSL_CTX_free(context_); }
  Status Load(const TlsOptions& options, const std::string& alpn);
  std::unique_ptr<Stream> MakeStream(int fd) override;

 private:
  Status RequireClientCertificates(const std::string& authority);
  static int SelectProtocol(SSL*, const unsigned char** out, unsigned char* size,
                            const unsigned char* offered, unsigned offered_size, void* self);

  SSL_CTX* context_ = nullptr;
  std::string protocols_;  // each name is preceded by its length
};

std::string LastError() {
  char text[256] = "unknown error";
  if (const unsigned long error = ERR_peek_last_error()) ERR_error_string_n(error, text, sizeof text);
  ERR_clear_error();
  return text;
}

Result<std::string> EncodeProtocols(const std::string& list) {
  std::string out;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin || end - begin > 255) return InvalidArgument("invalid list of protocols '", list, "'");
    out += static_cast<char>(end - begin);
    out += list.substr(begin, end - begin);
    begin = end + 1;
  }
  return out;
}

Status OpenSslContext::Load(const TlsOptions& options, const std::string& alpn) {
  context_ = SSL_CTX_new(TLS_server_method());
  if (!context_) return Status(Code::kInternal, StrCat("cannot create a TLS context: ", LastError()));
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  // Selects the TLS 1.2 ciphers that HTTP/2 allows: ephemeral key exchange and authenticated encryption.
  if (SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:!aNULL:!PSK") != 1)
    return Status(Code::kInternal, StrCat("cannot choose the ciphers of TLS: ", LastError()));
  SSL_CTX_set_options(context_,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(context_, options.certificate.c_str()) != 1)
    return InvalidArgument("cannot read the TLS certificate '", options.certificate, "': ", LastError());
  if (SSL_CTX_use_PrivateKey_file(context_, options.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return InvalidArgument("cannot read the TLS key '", options.key, "': ", LastError());
  if (SSL_CTX_check_private_key(context_) != 1)
    return InvalidArgument("the TLS key does not belong to the certificate: ", LastError());
  if (!options.client_ca.empty()) TERN_TRY(RequireClientCertificates(options.client_ca));
  TERN_ASSIGN(protocols_, EncodeProtocols(alpn));
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(context_, SelectProtocol, this);
  return {};
}

Status OpenSslContext::RequireClientCertificates(const std::string& authority) {
  if (SSL_CTX_load_verify_locations(context_, authority.c_str(), nullptr) != 1)
    return InvalidArgument("cannot read the certificate authority '", authority, "': ", LastError());
  SSL_CTX_set_client_CA_list(context_, SSL_load_client_CA_file(authority.c_str()));
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const unsigned char id[] = "tern";
  SSL_CTX_set_session_id_context(context_, id, sizeof id - 1);
  return {};
}

int OpenSslContext::SelectProtocol(SSL*, const unsigned char** out, unsigned char* size,
                                   const unsigned char* offered, unsigned offered_size, void* self) {
  const std::string& own = static_cast<OpenSslContext*>(self)->protocols_;
  unsigned char* selected = nullptr;
  const int found = SSL_select_next_proto(&selected, size, reinterpret_cast<const unsigned char*>(own.data()),
                                          static_cast<unsigned>(own.size()), offered, offered_size);
  *out = selected;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::unique_ptr<Stream> OpenSslContext::MakeStream(int fd) {
  SSL* ssl = SSL_new(context_);
  if (!ssl || SSL_set_fd(ssl, fd) != 1) {
    SSL_free(ssl);
    close(fd);
    return nullptr;
  }
  SSL_set_accept_state(ssl);
  return std::make_unique<TlsStream>(fd, ssl);
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::Create(const TlsOptions& options, const std::string& alpn) {
  auto context = std::make_shared<OpenSslContext>();
  TERN_TRY(context->Load(options, alpn));
  return std::shared_ptr<TlsContext>(std::move(context));
}

}  // namespace tern::server
