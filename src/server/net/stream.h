// A connected TCP or UNIX socket. It uses TLS if its listener has a certificate.
#pragma once
#include <sys/uio.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace tern::server {

// Facts from a client's certificate, which the client authority of the server has signed.
struct PeerCertificate {
  std::string subject;             // RFC 2253, such as "CN=trainer,O=Example"
  std::vector<std::string> names;  // alternative names, such as "DNS:trainer.example"
  std::chrono::system_clock::time_point expires;
};

// Used only on the thread of its loop. No function blocks.
class Stream {
 public:
  enum class Outcome { kDone, kWouldBlock, kClosed };
  virtual ~Stream() = default;  // closes the socket
  virtual int fd() const = 0;
  // Reads at most `size` bytes and sets `read` to their number. kDone implies read > 0. With TLS, call Read
  // until it returns kWouldBlock, because the loop reports no event for bytes that are already decrypted.
  virtual Outcome Read(void* data, size_t size, size_t& read) = 0;
  // Like Read, but fills the parts one after the other. With TLS, it fills only the first part.
  virtual Outcome ReadParts(const iovec* parts, int /*count*/, size_t& read) {
    return Read(parts->iov_base, parts->iov_len, read);
  }
  // Writes as many bytes as the socket accepts. `written` may be less than the sum of the parts.
  virtual Outcome Write(const iovec* parts, int count, size_t& written) = 0;
  // With TLS: true if decrypted bytes are left. The loop reports no event for them, so call Read again.
  virtual bool buffered() const { return false; }
  // With TLS, a Read may have to write, and a Write may have to read. After kWouldBlock, the call must be
  // repeated when the socket is writable if this is true, and when it is readable if this is false.
  virtual bool wants_write() const { return false; }
  virtual void ShutdownWrite() = 0;
  virtual std::string Peer() const = 0;      // "127.0.0.1:40312", "unix"
  virtual std::string Protocol() const = 0;  // selected by ALPN: "h2", "http/1.1" or empty
  // After the handshake: the client's certificate, or null if it presented none.
  virtual std::shared_ptr<const PeerCertificate> Certificate() const { return nullptr; }
};

}  // namespace tern::server
