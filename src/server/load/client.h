// A connection of the load generator: sends one request at a time and reports its answer.
#pragma once
#include <memory>
#include <string>

#include "server/net/loop.h"
#include "server/observe/http_post.h"

namespace tern::server::loadgen {

struct Answer {
  bool ok = false;
  int status = 0;        // of HTTP or gRPC; -1: the connection failed
  bool refused = false;  // the server is overloaded: HTTP 429 and 503, RESOURCE_EXHAUSTED, UNAVAILABLE
  std::string message;   // of an error
  std::string body;      // if it was asked for
};

class ClientConnection;
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // Called on the loop's thread, once per Send. May call Send.
  virtual void OnAnswer(ClientConnection& connection, const Answer& answer) = 0;
};

// A request as its protocol wants it. Shared by all connections, which send it again and again.
struct RequestBytes {
  std::string path;   // gRPC: the method
  std::string bytes;  // HTTP: head and body. gRPC: the message with its prefix
};

// Used on the loop's thread only. Connects at the first Send, and again after a failure.
class ClientConnection {
 public:
  virtual ~ClientConnection() = default;
  virtual bool busy() const = 0;
  // request: stays valid until the answer. The answer may come before Send returns.
  virtual void Send(const RequestBytes& request, bool keep_body) = 0;
  // Closes the connection; the sink gets an answer with this message if a request is under way.
  virtual void Abort(const std::string& message) = 0;
};

std::unique_ptr<ClientConnection> ConnectHttp(Loop& loop, const Url& url, AnswerSink& sink);
std::unique_ptr<ClientConnection> ConnectGrpc(Loop& loop, const Url& url, AnswerSink& sink);

// Sends one request on a loop of its own and waits for the answer.
Result<Answer> CallOnce(const Url& url, bool grpc, const RequestBytes& request, double timeout_seconds);

}  // namespace tern::server::loadgen
