// The head of an HTTP/1.1 response, as a client reads it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tern::server {

using HttpFields = std::vector<std::pair<std::string, std::string>>;

struct HttpAnswer {
  int status = 0;
  HttpFields fields;  // names are in lower case
  std::string body;

  // Returns the value of the first field with this name, or null if there is none. `name` is in lower case.
  const std::string* Find(std::string_view name) const;
};

// How the body ends.
struct BodyFraming {
  enum class Kind { kNone, kLength, kChunked, kUntilClose } kind = Kind::kNone;
  uint64_t length = 0;  // for kLength
  bool keep_alive = false;
};

// Parses status line and fields, up to and without the empty line. Fails with kIo for anything malformed.
Result<HttpAnswer> ParseAnswerHead(std::string_view head);
// Fails with kIo if the fields contradict each other.
Result<BodyFraming> FramingOf(const HttpAnswer& answer, std::string_view method, bool http11);

}  // namespace tern::server
