// Reads and writes RESP2, the protocol of Redis.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::server {

struct RespReply {
  enum class Kind { kText, kError, kInteger, kBulk, kNull } kind = Kind::kNull;
  std::string text;  // also of an integer
};

// Finds the replies in the bytes of a connection. Accepts any bytes.
class RespReader {
 public:
  // A bulk reply has at most this many bytes.
  explicit RespReader(size_t max_bulk) : max_bulk_(max_bulk) {}
  void Feed(std::string_view bytes) { bytes_ += bytes; }
  // Returns the next reply, or nothing if more bytes are needed. Fails if the bytes are not RESP2. Fails for
  // arrays, too, because no command that Tern sends returns one. After an error, the connection must be
  // closed.
  Result<std::optional<RespReply>> Next();

 private:
  void Drop(size_t bytes);
  size_t max_bulk_;
  std::string bytes_;
  size_t at_ = 0;  // the bytes before this position were read
};

// Appends a command.
void AppendCommand(const std::vector<std::string_view>& words, std::string& out);

}  // namespace tern::server
