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

// Non-blocking listening sockets, one per loop, on one address.
struct ListenSockets {
  std::vector<int> fds;
  int port = 0;
  std::string unix_path;  // the owner removes it at the end; empty for TCP
};
Result<ListenSockets> OpenListenSockets(const std::string& address, int port, int count);

}  // namespace tern::server
