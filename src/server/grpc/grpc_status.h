// Status codes of gRPC, and their form in trailers.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

enum class GrpcCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

struct GrpcStatus {
  GrpcCode code = GrpcCode::kOk;
  std::string message;
  int64_t retry_ms = 0;  // if > 0, the time after which the client may try again

  bool ok() const { return code == GrpcCode::kOk; }
  static GrpcStatus Of(const Status& status);
};

// Encodes a text for the trailer grpc-message. '%' and bytes outside printable ASCII become %XX.
std::string PercentEncode(std::string_view text);

}  // namespace tern::server
