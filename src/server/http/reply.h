// A complete HTTP response before it is written.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/buffer.h"
#include "server/core/compression.h"

namespace tern::server {

struct HttpReply {
  int status = 200;
  std::string_view type = "application/json";  // Content-Type
  std::string body;
  std::vector<Buffer> tail;                 // follows the body
  size_t infer_header = 0;                  // if > 0, the value of Inference-Header-Content-Length
  bool compress = false;                    // compress the body if the client accepts that
  Encoding encoding = Encoding::kIdentity;  // of the body and the tail
  std::string_view allow;                   // the value of Allow, for status 405
  std::string_view authenticate;            // the value of WWW-Authenticate, for status 401
  bool preflight = false;                   // answers a CORS preflight
  std::chrono::milliseconds retry_after{0};
  std::string error;  // for the access log
};

// The number of bytes of body and tail.
uint64_t BodyBytes(const HttpReply& reply);
// Compresses body and tail if the reply wants that and they are long enough. `accept` is what the client
// accepts. Takes long for long bodies.
void CompressReply(Encoding accept, HttpReply& reply);

int HttpStatus(Code code);
const char* HttpReason(int status);
HttpReply ErrorReply(const Status& status, std::chrono::milliseconds retry_after = {});
HttpReply ErrorReply(int http_status, std::string_view message);
HttpReply JsonReply(std::string body);

}  // namespace tern::server
