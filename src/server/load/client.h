// A connection of the load generator. It sends one request at a time and reports the answer.
#pragma once
#include <memory>
#include <string>

#include "server/net/http_client.h"
#include "server/net/loop.h"

namespace tern::server::loadgen {

struct Answer {
  bool ok = false;
  int status = 0;        // the status of HTTP or gRPC; -1 if the connection failed
  bool refused = false;  // the server is overloaded: HTTP 429 and 503, RESOURCE_EXHAUSTED, UNAVAILABLE
  std::string message;   // the error message
  std::string body;      // empty unless Send was called with keep_body
};

class ClientConnection;
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // Called on the loop's thread, once per Send. May call Send.
  virtual void OnAnswer(ClientConnection& connection, const Answer& answer) = 0;
};

// An encoded request. All connections share it and send it repeatedly.
struct RequestBytes {
  std::string path;   // for gRPC: the method
  std::string bytes;  // for HTTP: head and body; for gRPC: the message with its prefix
};

// Used only on the loop's thread. Connects at the first Send, and at the first Send after a failure.
class ClientConnection {
 public:
  virtual ~ClientConnection() = default;
  virtual bool busy() const = 0;
  // `request` must stay valid until the answer. OnAnswer may be called before Send returns.
  virtual void Send(const RequestBytes& request, bool keep_body) = 0;
  // Closes the connection. If a request is in flight, the sink gets an answer with this message.
  virtual void Abort(const std::string& message) = 0;
};

std::unique_ptr<ClientConnection> ConnectHttp(Loop& loop, const Url& url, AnswerSink& sink);
std::unique_ptr<ClientConnection> ConnectGrpc(Loop& loop, const Url& url, AnswerSink& sink);

// Creates a loop, sends one request on it, and waits for the answer.
Result<Answer> CallOnce(const Url& url, bool grpc, const RequestBytes& request, double timeout_seconds);

}  // namespace tern::server::loadgen
