// Makes streams from accepted sockets, and opens listening sockets.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/net/listener.h"

namespace tern::server {

// Takes ownership of a connected, non-blocking socket.
std::unique_ptr<Stream> MakePlainStream(int fd);
std::string PeerName(int fd);

// Certificates and settings that all connections of a listener share. Thread-safe.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  // Takes ownership of the socket. The handshake happens in the first calls of Read and Write.
  virtual std::unique_ptr<Stream> MakeStream(int fd) = 0;
  static Result<std::shared_ptr<TlsContext>> Create(const TlsOptions& options, const std::string& alpn);
};

// Non-blocking listening sockets, one per loop, on one address.
struct ListenSockets {
  std::vector<int> fds;
  int port = 0;
  std::string unix_path;  // the owner removes it at the end; empty for TCP
};
Result<ListenSockets> OpenListenSockets(const std::string& address, int port, int count);

}  // namespace tern::server
