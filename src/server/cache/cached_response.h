// A response in the cache.
#pragma once
#include <memory>

#include "server/core/message.h"

namespace tern::server {

// Immutable. Responses to hits share its bytes.
struct CachedResponse {
  std::vector<WireTensor> outputs;
  std::string text;
  Parameters parameters;

  // The memory of the response, including that of names and dims.
  size_t bytes() const;
  Response ToResponse() const;
};

// Copies the bytes of a successful response. A copy is needed because the outputs of a batch may be slices of
// one buffer. Without the copy, an entry would keep the whole buffer.
std::shared_ptr<const CachedResponse> Freeze(const Response& response);

// Returns the number of bytes that Freeze copies.
size_t PayloadBytes(const Response& response);

// Converts to the bytes of an entry in Redis, and back. Decode accepts any bytes: it fails unless the entry
// is complete and the bytes of every output fit its type and shape.
std::string Encode(const CachedResponse& response);
Result<std::shared_ptr<const CachedResponse>> Decode(std::string_view bytes);

}  // namespace tern::server
