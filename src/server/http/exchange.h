// One request of a connection and its response.
#pragma once
#include <string>

#include "server/core/control.h"
#include "server/http/output.h"
#include "server/http/request_head.h"

namespace tern::server {

// Used only on the thread of the connection's loop.
struct Exchange {
  virtual ~Exchange() = default;
  // Called when the client has disconnected, so the result is not needed.
  virtual void Abandon() {}
  // Fills in the fields of the access log that describe an inference.
  virtual void Describe(AccessRecord&) const {}

  std::string method, target;
  std::string user;  // the name in the access file; empty: unknown
  bool http11 = true;
  bool keep_alive = true;
  bool without_body = false;  // the response has no body because the method is HEAD
  Encoding accept = Encoding::kIdentity;
  Clock::time_point arrived;
  TraceContext trace;
  uint64_t received = 0, sent = 0;

  Output held;            // the response, until all earlier requests are answered
  bool answered = false;  // the response is complete
  int status = 0;
  std::string error;
};

}  // namespace tern::server
