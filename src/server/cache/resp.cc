#include "server/cache/resp.h"

namespace tern::server {
namespace {

constexpr size_t kMaxLine = 64 << 10;

}  // namespace

void RespReader::Drop(size_t bytes) {
  at_ += bytes;
  // Moves the rest to the front only now and then, so that many short replies cost linear time.
  if (at_ < bytes_.size() && at_ < kMaxLine) return;
  bytes_.erase(0, at_);
  at_ = 0;
}

Result<std::optional<RespReply>> RespReader::Next() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const size_t end = rest.find("\r\n");
  if (end == std::string_view::npos) {
    if (rest.size() > kMaxLine) return IoError("a line has more than ", kMaxLine, " bytes");
    return std::optional<RespReply>();
  }
  if (end == 0) return IoError("an empty line");
  const std::string_view line = rest.substr(1, end - 1);
  RespReply reply;
  switch (rest[0]) {
    case '+':
      reply.kind = RespReply::Kind::kText;
      break;
    case '-':
      reply.kind = RespReply::Kind::kError;
      break;
    case ':':
      reply.kind = RespReply::Kind::kInteger;
      break;
    case '$':
      reply.kind = RespReply::Kind::kBulk;
      break;
    default:
      return IoError("a reply of an unexpected type");
  }
  if (reply.kind != RespReply::Kind::kBulk) {
    reply.text = line;
    Drop(end + 2);
    return std::optional(std::move(reply));
  }
  int64_t size = 0;
  if (!ParseInt(line, size) || size < -1 || size > static_cast<int64_t>(max_bulk_))
    return IoError("a reply of a wrong size; at most ", max_bulk_, " bytes are allowed");
  if (size == -1) {
    reply.kind = RespReply::Kind::kNull;
    Drop(end + 2);
    return std::optional(std::move(reply));
  }
  const auto bytes = static_cast<size_t>(size);
  if (rest.size() < end + 2 + bytes + 2) return std::optional<RespReply>();
  if (rest.substr(end + 2 + bytes, 2) != "\r\n") return IoError("a reply without an end");
  reply.text = rest.substr(end + 2, bytes);
  Drop(end + 2 + bytes + 2);
  return std::optional(std::move(reply));
}

void AppendCommand(const std::vector<std::string_view>& words, std::string& out) {
  out += StrCat("*", words.size(), "\r\n");
  for (const std::string_view word : words) {
    out += StrCat("$", word.size(), "\r\n");
    out += word;
    out += "\r\n";
  }
}

}  // namespace tern::server
