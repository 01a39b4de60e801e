// A connected socket, TCP or UNIX, with TLS if its listener has a certificate.
#pragma once
#include <sys/uio.h>

#include <memory>
#include <string>

#include "base/status.h"

namespace tern::server {

// Used on the thread of its loop only. Non-blocking.
class Stream {
 public:
  enum class Outcome { kDone, kWouldBlock, kClosed };
  virtual ~Stream() = default;  // closes the socket
  virtual int fd() const = 0;
  // Reads at most `size` bytes. `read` is the number; kDone implies read > 0. With TLS, call until
  // kWouldBlock: decrypted bytes may be left without an event.
  virtual Outcome Read(void* data, size_t size, size_t& read) = 0;
  // Writes as much as the socket takes. `written` may be less than the sum of the parts.
  virtual Outcome Write(const iovec* parts, int count, size_t& written) = 0;
  // With TLS: decrypted bytes are left that no event announces; call Read again.
  virtual bool buffered() const { return false; }
  // With TLS: the last Read or Write must be repeated when the socket is writable (readable).
  virtual bool wants_write() const { return false; }
  virtual void ShutdownWrite() = 0;
  virtual std::string Peer() const = 0;      // "127.0.0.1:40312", "unix"
  virtual std::string Protocol() const = 0;  // by ALPN: "h2", "http/1.1" or empty
};

}  // namespace tern::server
