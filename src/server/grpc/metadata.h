// Parses the headers of a gRPC request.
#pragma once
#include <chrono>
#include <optional>
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

enum class Compression : uint8_t { kIdentity, kGzip, kDeflate, kUnknown };
Compression ParseCompression(std::string_view encoding);
const char* CompressionName(Compression compression);  // "gzip"

// Parses a value of grpc-timeout, such as "100m": at most 8 digits and a unit. Returns nullopt for any other
// text.
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text);
// Parses the W3C header traceparent. trace_id is empty if the text is malformed.
TraceContext ParseTraceparent(std::string_view text);

struct Metadata {
  std::chrono::nanoseconds timeout{-1};  // negative: none
  bool bad_timeout = false;
  bool grpc_content = false;  // content-type is application/grpc or application/grpc+proto
  bool post = false;
  Compression encoding = Compression::kIdentity;  // compression of the client's messages
  bool accepts_gzip = false;
  bool stream_errors = false;  // header triton_grpc_error: an error ends a ModelStreamInfer with that status
  TraceContext trace;
};

// Returns whether a header belongs to HTTP/2 or gRPC and not to the application.
bool IsProtocolHeader(std::string_view name);
// Reads one header into `metadata`. Ignores :path and unknown headers.
void ReadHeader(std::string_view name, std::string_view value, Metadata& metadata);

}  // namespace tern::server
