// What the headers of a gRPC request say.
#pragma once
#include <chrono>
#include <optional>
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

enum class Compression : uint8_t { kIdentity, kGzip, kDeflate, kUnknown };
Compression ParseCompression(std::string_view encoding);
const char* CompressionName(Compression compression);  // "gzip"

// "100m": at most 8 digits and a unit. nullopt for anything else.
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text);
// Header traceparent of W3C. An empty trace_id for anything else.
TraceContext ParseTraceparent(std::string_view text);

struct Metadata {
  std::chrono::nanoseconds timeout{-1};  // < 0: none
  bool bad_timeout = false;
  bool grpc_content = false;  // content-type is application/grpc, +proto
  bool post = false;
  Compression encoding = Compression::kIdentity;  // of the client's messages
  bool accepts_gzip = false;
  bool stream_errors = false;  // triton_grpc_error: an error ends a ModelStreamInfer with a status
  TraceContext trace;
};

// Reads one header but :path. Others are ignored.
void ReadHeader(std::string_view name, std::string_view value, Metadata& metadata);

}  // namespace tern::server
