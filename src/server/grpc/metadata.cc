#include "server/grpc/metadata.h"

#include <algorithm>

namespace tern::server {
namespace {

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

// Accepts "application/grpc" and "application/grpc+proto", also with parameters.
bool IsGrpcContent(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!type.starts_with(kGrpc)) return false;
  type.remove_prefix(kGrpc.size());
  if (type.starts_with("+proto")) type.remove_prefix(6);
  return type.empty() || type[0] == ';' || type[0] == ' ';
}

bool ListHas(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view entry = list.substr(0, comma);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    if (entry == item) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

void ReadTimeoutHeader(std::string_view value, Metadata& metadata) {
  const auto timeout = ParseTimeout(value);
  metadata.bad_timeout = !timeout;
  metadata.timeout = timeout.value_or(std::chrono::nanoseconds(-1));
}

int64_t UnitNanoseconds(char unit) {
  switch (unit) {
    case 'H':
      return 3'600'000'000'000;
    case 'M':
      return 60'000'000'000;
    case 'S':
      return 1'000'000'000;
    case 'm':
      return 1'000'000;
    case 'u':
      return 1'000;
    case 'n':
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Compression ParseCompression(std::string_view encoding) {
  if (encoding == "identity" || encoding.empty()) return Compression::kIdentity;
  if (encoding == "gzip") return Compression::kGzip;
  return encoding == "deflate" ? Compression::kDeflate : Compression::kUnknown;
}

const char* CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return "gzip";
    case Compression::kDeflate:
      return "deflate";
    default:
      return "identity";
  }
}

std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) {
  constexpr size_t kMaxDigits = 8;
  // One year, so that no sum of times overflows.
  constexpr int64_t kMax = int64_t{365} * 24 * 3'600'000'000'000;
  if (text.size() < 2 || text.size() > kMaxDigits + 1) return {};
  const int64_t unit = UnitNanoseconds(text.back());
  int64_t number = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return {};
    number = number * 10 + (c - '0');
  }
  if (!unit) return {};
  return std::chrono::nanoseconds(number > kMax / unit ? kMax : number * unit);
}

TraceContext ParseTraceparent(std::string_view text) {
  // The text is version "-" trace-id "-" parent-id "-" flags. Later versions may append fields.
  if (text.size() < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  const std::string_view version = text.substr(0, 2), trace = text.substr(3, 32),
                         parent = text.substr(36, 16), flags = text.substr(53, 2);
  if (!IsHex(version) || !IsHex(trace) || !IsHex(parent) || !IsHex(flags)) return {};
  if (version == "ff" || IsZero(trace) || IsZero(parent)) return {};
  if (text.size() > 55 && (version == "00" || text[55] != '-')) return {};
  const int low = flags[1] <= '9' ? flags[1] - '0' : flags[1] - 'a' + 10;
  return {std::string(trace), std::string(parent), (low & 1) != 0};
}

bool IsProtocolHeader(std::string_view name) {
  return name.starts_with(':') || name.starts_with("grpc-") || name == "te" || name == "content-type";
}

void ReadHeader(std::string_view name, std::string_view value, Metadata& metadata) {
  if (name == ":method")
    metadata.post = value == "POST";
  else if (name == "content-type")
    metadata.grpc_content = IsGrpcContent(value);
  else if (name == "grpc-timeout")
    ReadTimeoutHeader(value, metadata);
  else if (name == "grpc-encoding")
    metadata.encoding = ParseCompression(value);
  else if (name == "grpc-accept-encoding")
    metadata.accepts_gzip = ListHas(value, "gzip");
  else if (name == "traceparent")
    metadata.trace = ParseTraceparent(value);
  else if (name == "triton_grpc_error")
    metadata.stream_errors = value == "true";
}

}  // namespace tern::server
