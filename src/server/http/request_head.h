// The request line and the header fields of an HTTP/1 request.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/core/compression.h"
#include "server/core/restrictions.h"

namespace tern::server {

enum class Method { kGet, kHead, kPost, kOptions, kOther };

// What Content-Type says about the body.
enum class BodyType {
  kUnstated,  // no Content-Type, or the one that programs such as curl send by default
  kItem,      // a picture, a sound, a text or other bytes
  kForm,      // multipart/form-data, which no route takes
  kOther,
};

// The texts refer to the receive buffer.
struct RequestHead {
  Method method = Method::kOther;
  std::string_view method_name, target;
  bool http11 = true;
  bool keep_alive = true;
  bool expect_continue = false;
  bool chunked = false;
  std::optional<uint64_t> content_length;
  Encoding encoding = Encoding::kIdentity;  // Content-Encoding of the body
  Encoding accept = Encoding::kIdentity;    // the encoding that the client accepts for the response
  std::optional<uint64_t> infer_header;     // Inference-Header-Content-Length
  std::string_view traceparent;
  std::string_view authorization;  // the value of the first field Authorization
  size_t authorizations = 0;       // the number of these fields
  BodyType body_type = BodyType::kUnstated;
};

inline constexpr size_t kMaxHeadBytes = 16384;

// The result of a search for the end of the head.
struct HeadScan {
  enum class Outcome { kMore, kComplete, kBad };
  Outcome outcome = Outcome::kMore;
  size_t size = 0;  // for kComplete: the size of the head, including the empty line
};
// `line` is the start of the line that was incomplete in the last scan. It must be 0 in the first scan of a
// request. A line must end in CR LF and not begin with a space or a tab, and no other CR, LF or NUL is
// allowed.
HeadScan ScanHead(std::string_view received, size_t& line);

// An HTTP error: the status, and the message for the client.
struct HeadError {
  int status = 0;  // 0: none
  const char* message = "";
};
// Parses a complete head. Refuses everything that another parser, such as a proxy's, could understand
// differently.
HeadError ParseHead(std::string_view text, RequestHead& head);
// Returns the fields of a head that ParseHead accepts.
Headers FieldsOf(std::string_view text);

}  // namespace tern::server
