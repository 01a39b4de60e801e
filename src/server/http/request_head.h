// The request line and the header fields of an HTTP/1 request.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/http/compression.h"

namespace tern::server {

enum class Method { kGet, kHead, kPost, kOptions, kOther };

// Texts are views of the receive buffer.
struct RequestHead {
  Method method = Method::kOther;
  std::string_view method_name, target;
  bool http11 = true;
  bool keep_alive = true;
  bool expect_continue = false;
  bool chunked = false;
  std::optional<uint64_t> content_length;
  Encoding encoding = Encoding::kIdentity;  // of the body
  Encoding accept = Encoding::kIdentity;    // for the response
  std::optional<uint64_t> infer_header;     // Inference-Header-Content-Length
  std::string_view traceparent;
};

inline constexpr size_t kMaxHeadBytes = 16384;

// Looks for the end of the head.
struct HeadScan {
  enum class Outcome { kMore, kComplete, kBad };
  Outcome outcome = Outcome::kMore;
  size_t size = 0;  // kComplete: of the head, with the empty line
};
// `line` is where the line begins that was not complete in the last scan; it starts at 0. A line must end in
// CR LF, and no other CR, LF or NUL is allowed.
HeadScan ScanHead(std::string_view received, size_t& line);

// An error of HTTP: the status and what the client is told.
struct HeadError {
  int status = 0;  // 0: none
  const char* message = "";
};
// Parses a complete head. Refuses everything that another parser could understand in another way.
HeadError ParseHead(std::string_view text, RequestHead& head);

}  // namespace tern::server
