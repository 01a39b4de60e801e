// The TLS contexts of listeners. Only sources that use OpenSSL see its types.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "server/net/listener.h"

struct ssl_st;
struct x509_st;

namespace tern::server {

// The contents of the files that TlsOptions name.
struct TlsMaterial {
  std::string certificate, key, client_ca;
};

// Certificates and settings that all connections of a listener share. Thread-safe.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  // Takes ownership of the socket. The handshake happens in the first calls of Read and Write.
  virtual std::unique_ptr<Stream> MakeStream(int fd) = 0;
  // New connections use the new certificates. Open connections keep theirs. After an error, new connections
  // still use the old certificates.
  virtual Status Replace(const TlsMaterial& material) = 0;
  // Returns the time at which the first of the certificates expires.
  virtual std::chrono::system_clock::time_point expires() const = 0;

  // Reads the files. If options.files is set, the context follows their changes.
  static Result<std::shared_ptr<TlsContext>> Create(const TlsOptions& options, const std::string& alpn);
  // Makes a context without certificates, which makes no streams until Replace succeeds.
  static Result<std::shared_ptr<TlsContext>> CreateEmpty(const TlsOptions& options, const std::string& alpn);
};

// Takes ownership of the socket and of the connection.
std::unique_ptr<Stream> MakeTlsStream(int fd, ssl_st* ssl);
// Returns the last time of the clock, in 2262, if the certificate expires later, and the epoch if it expired
// before 1970 or states no valid time.
std::chrono::system_clock::time_point ExpiryOf(const x509_st& certificate);

}  // namespace tern::server
