#include "server/grpc/grpc_status.h"

namespace tern::server {
namespace {

GrpcCode CodeOf(Code code) {
  switch (code) {
    case Code::kOk:
      return GrpcCode::kOk;
    case Code::kInvalidArgument:
    case Code::kInvalidModel:
      return GrpcCode::kInvalidArgument;
    case Code::kUnsupported:
      return GrpcCode::kUnimplemented;
    case Code::kNotFound:
      return GrpcCode::kNotFound;
    case Code::kResourceExhausted:
      return GrpcCode::kResourceExhausted;
    case Code::kCancelled:
      return GrpcCode::kCancelled;
    case Code::kUnavailable:
      return GrpcCode::kUnavailable;
    case Code::kAlreadyExists:
      return GrpcCode::kAlreadyExists;
    case Code::kIo:
    case Code::kInternal:
      return GrpcCode::kInternal;
  }
  return GrpcCode::kUnknown;
}

}  // namespace

GrpcStatus GrpcStatus::Of(const Status& status) { return {CodeOf(status.code()), status.message(), 0}; }

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '%')
      out.push_back(c);
    else
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return out;
}

}  // namespace tern::server
