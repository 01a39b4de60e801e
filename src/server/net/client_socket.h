// A blocking connection of a client, with or without TLS.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/stop.h"
#include "server/net/url.h"

namespace tern::server {

// The authorities whose certificates a client accepts. Thread-safe.
class ClientTls {
 public:
  virtual ~ClientTls() = default;
  // `authorities` is a PEM file; empty: those of the system.
  static Result<std::shared_ptr<ClientTls>> Create(const std::string& authorities);
};

// Not thread-safe. All functions but Quiet and SetLimits block.
class ClientSocket {
 public:
  virtual ~ClientSocket() = default;
  // Sends all bytes.
  virtual Status Write(std::string_view data) = 0;
  // Receives at least one byte and at most `size`. Returns 0 at the end of the stream.
  virtual Result<size_t> Read(char* data, size_t size) = 0;
  // Returns false if the server has closed the connection or has sent bytes that do not answer a request.
  virtual bool Quiet() const = 0;
  // Every call fails with kCancelled when `stop` says so, and with kIo after `idle` without a byte.
  virtual void SetLimits(const Stop& stop, std::chrono::milliseconds idle) = 0;

  // Connects to the first address of the host that answers, each within `limit`. With TLS, `tls` must not be
  // null; a certificate that does not belong to the host fails with kInvalidArgument. `stop` does not
  // interrupt the system while it looks up the name.
  static Result<std::unique_ptr<ClientSocket>> Connect(const Url& url, const std::shared_ptr<ClientTls>& tls,
                                                       std::chrono::milliseconds limit, const Stop& stop);
};

}  // namespace tern::server
