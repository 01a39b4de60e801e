// Accepts connections, either on TCP sockets with SO_REUSEPORT, one per loop, or on a UNIX socket.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "server/net/loop.h"
#include "server/net/stream.h"

namespace tern::server {

class TlsFiles;  // server/net/tls_files.h

struct TlsOptions {
  std::string certificate, key;     // PEM files; empty: no TLS
  std::string client_ca;            // PEM file; if set, clients must present a certificate of this authority
  bool client_optional = false;     // clients may also connect without a certificate
  bool only_tls13 = false;          // refuse TLS 1.2
  std::shared_ptr<TlsFiles> files;  // the same files; if set, the listener follows their changes
};

struct ListenOptions {
  std::string address = "0.0.0.0";  // an IP address, or "unix:/path"
  int port = 0;                     // 0: the system chooses one
  TlsOptions tls;
  std::string alpn;           // protocols that TLS offers, in order of preference, such as "h2,http/1.1"
  size_t connections = 4096;  // limit; further connections are closed at once
};

// A connection of one protocol. The listener owns it until the connection calls `done`, the argument of
// ConnectionFactory.
class Connection {
 public:
  virtual ~Connection() = default;
  // Called when the server drains. The connection finishes its accepted requests, then closes.
  virtual void Drain() = 0;
  // True while an accepted request is not answered, or its response is not written completely.
  virtual bool busy() const { return false; }
};

using ConnectionFactory = std::function<std::shared_ptr<Connection>(
    Loop& loop, std::unique_ptr<Stream> stream, std::function<void()> done)>;

class Listener {
 public:
  static Result<std::unique_ptr<Listener>> Start(Loops& loops, const ListenOptions& options,
                                                 ConnectionFactory factory);
  ~Listener();  // closes all connections
  int port() const;
  size_t connections() const;
  // Stops accepting and calls Connection::Drain on every connection. Returns when no connection is left, or
  // after `limit`. Returns false if a connection is busy then. Its client gets no answer.
  bool Drain(std::chrono::milliseconds limit);

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace tern::server
