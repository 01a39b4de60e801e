// Compresses and decompresses HTTP bodies and gRPC messages with gzip and deflate (with zlib's header).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"

namespace tern::server {

enum class Encoding { kIdentity, kGzip, kDeflate };
const char* EncodingName(Encoding encoding);  // "gzip"

// Decompresses data of this encoding. kIdentity: the first bytes tell whether it is gzip or deflate. Fails
// with kResourceExhausted if the result is longer than `limit` bytes, and with kInvalidArgument if the data
// is damaged or truncated.
Result<Buffer> Decompress(std::string_view data, uint64_t limit, Encoding encoding = Encoding::kIdentity);
// Compresses the parts as one stream. `level` is 1 (fastest) to 9.
Result<std::string> Compress(Encoding encoding, const std::vector<std::string_view>& parts, int level = 1);

}  // namespace tern::server
