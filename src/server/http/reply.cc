#include "server/http/reply.h"

#include "server/http/json_writer.h"

namespace tern::server {

uint64_t BodyBytes(const HttpReply& reply) {
  uint64_t sum = reply.body.size();
  for (const Buffer& bytes : reply.tail) sum += bytes.size();
  return sum;
}

void CompressReply(Encoding accept, HttpReply& reply) {
  constexpr size_t kMinBytes = 128;
  if (!std::exchange(reply.compress, false) || accept == Encoding::kIdentity || BodyBytes(reply) < kMinBytes)
    return;
  std::vector<std::string_view> parts{reply.body};
  for (const Buffer& bytes : reply.tail)
    parts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto compressed = Compress(accept, parts);
  if (!compressed.ok()) return;
  reply.body = std::move(*compressed);
  reply.tail.clear();
  reply.encoding = accept;
}

int HttpStatus(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kNotFound:
      return 404;
    case Code::kResourceExhausted:
      return 429;
    case Code::kUnavailable:
      return 503;
    case Code::kUnsupported:
      return 501;
    case Code::kInternal:
    case Code::kIo:
      return 500;
    default:
      return 400;
  }
}

const char* HttpReason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

namespace {

// Messages quote what the client sent, so they may be long. Keeps the start, cut between characters.
std::string_view Shorten(std::string_view text) {
  constexpr size_t kMaxBytes = 4096;
  if (text.size() <= kMaxBytes) return text;
  size_t size = kMaxBytes;
  while (size > 0 && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

HttpReply ErrorReply(int http_status, std::string_view message) {
  message = Shorten(message);
  HttpReply reply;
  reply.status = http_status;
  reply.body = ErrorJson(message);
  reply.error = message;
  return reply;
}

HttpReply ErrorReply(const Status& status, std::chrono::milliseconds retry_after) {
  HttpReply reply = ErrorReply(HttpStatus(status.code()), status.message());
  reply.retry_after = retry_after;
  // A reply with status 429 always says when to try again.
  if (reply.status == 429 && retry_after.count() == 0) reply.retry_after = std::chrono::seconds(1);
  return reply;
}

HttpReply JsonReply(std::string body) {
  HttpReply reply;
  reply.body = std::move(body);
  return reply;
}

}  // namespace tern::server
