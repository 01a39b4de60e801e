// Parses replies of Redis and entries of the response cache.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "entry.h"
#include "server/cache/cached_response.h"
#include "server/cache/resp.h"

using namespace tern::server;

namespace {

// Returns all replies as text, and whether the bytes are RESP.
std::pair<std::string, bool> Replies(std::string_view bytes, size_t step) {
  RespReader reader(1 << 16);
  std::string all;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.Feed(bytes.substr(at, step));
    for (;;) {
      auto reply = reader.Next();
      if (!reply.ok()) return {all, false};
      if (!*reply) break;
      all += static_cast<char>('0' + static_cast<int>((*reply)->kind));
      all += (*reply)->text;
    }
  }
  return {all, true};
}

// An entry that is accepted is encoded to the same bytes.
void CheckEntry(std::string_view bytes) {
  const auto decoded = Decode(bytes);
  if (!decoded.ok()) return;
  const auto again = Decode(Encode(**decoded));
  if (!again.ok() || (*again)->outputs.size() != (*decoded)->outputs.size()) std::abort();
  for (const WireTensor& output : (*decoded)->outputs) {
    unsigned sum = 0;  // reads all bytes
    for (size_t i = 0; i < output.bytes.size(); ++i) sum += static_cast<unsigned>(output.bytes.data()[i]);
    if (sum == 0xffffffffu) std::abort();
  }
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (Replies(bytes, size + 1) != Replies(bytes, 1)) std::abort();
  CheckEntry(bytes);
  return 0;
}
