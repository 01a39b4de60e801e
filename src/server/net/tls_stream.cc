// A stream over TLS, by OpenSSL.
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "server/net/freed.h"
#include "server/net/sockets.h"
#include "server/net/tls.h"

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
  std::shared_ptr<const PeerCertificate> Certificate() const override;

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

using CertificateHolder = std::unique_ptr<X509, Freed<X509, X509_free>>;
using NamesHolder = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES, GENERAL_NAMES_free>>;

std::string MemoryText(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

// RFC 2253. Escapes control characters, so that different subjects have different texts.
std::string SubjectOf(const X509& certificate) {
  BIO* out = BIO_new(BIO_s_mem());
  if (!out) return {};
  std::string text;
  if (X509_NAME_print_ex(out, X509_get_subject_name(&certificate), 0, XN_FLAG_RFC2253) >= 0)
    text = MemoryText(out);
  BIO_free(out);
  return text;
}

// Returns a text such as "DNS:name". Returns "" for a name of an unsupported kind, and for a name with a
// space or a control character, because other programs could read only the part before it.
std::string NameText(const GENERAL_NAME& name) {
  int kind = 0;
  const auto* value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(&name, &kind));
  const auto text = [&] {
    return std::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                            static_cast<size_t>(ASN1_STRING_length(value)));
  };
  if (kind == GEN_IPADD) {
    char host[INET6_ADDRSTRLEN] = "";
    const int family = text().size() == 4 ? AF_INET : text().size() == 16 ? AF_INET6 : 0;
    return family && inet_ntop(family, text().data(), host, sizeof host) ? StrCat("IP:", host) : "";
  }
  const char* prefix = kind == GEN_DNS     ? "DNS:"
                       : kind == GEN_URI   ? "URI:"
                       : kind == GEN_EMAIL ? "EMAIL:"
                                           : "";
  if (!*prefix) return {};
  const auto plain = [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; };
  return std::all_of(text().begin(), text().end(), plain) ? StrCat(prefix, text()) : "";
}

std::vector<std::string> NamesOf(const X509& certificate) {
  std::vector<std::string> names;
  const NamesHolder all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i)
    if (std::string text = NameText(*sk_GENERAL_NAME_value(all.get(), i)); !text.empty())
      names.push_back(std::move(text));
  return names;
}

std::shared_ptr<const PeerCertificate> TlsStream::Certificate() const {
  const CertificateHolder certificate(SSL_get1_peer_certificate(ssl_));
  if (!certificate || SSL_get_verify_result(ssl_) != X509_V_OK) return nullptr;
  auto peer = std::make_shared<PeerCertificate>();
  peer->subject = SubjectOf(*certificate);
  peer->names = NamesOf(*certificate);
  peer->expires = ExpiryOf(*certificate);
  return peer;
}

}  // namespace

std::unique_ptr<Stream> MakeTlsStream(int fd, ssl_st* ssl) { return std::make_unique<TlsStream>(fd, ssl); }

std::chrono::system_clock::time_point ExpiryOf(const x509_st& certificate) {
  using namespace std::chrono;
  // Many certificates end in the year 9999, which the clock cannot state: it counts nanoseconds.
  constexpr sys_seconds kFirst{}, kLast = floor<seconds>(system_clock::time_point::max());
  tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) != 1) return kFirst;
  const sys_seconds time{seconds(timegm(&parts))};
  return time < kLast ? system_clock::time_point(std::max(time, kFirst)) : system_clock::time_point::max();
}

}  // namespace tern::server
