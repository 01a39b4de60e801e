// Compresses and decompresses bodies with gzip and deflate, by zlib.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"

namespace tern::server {

enum class Encoding { kIdentity, kGzip, kDeflate };
const char* EncodingName(Encoding encoding);  // "gzip"

// Decompresses gzip or zlib data. Fails with kResourceExhausted if the result is longer than `limit` bytes,
// and with kInvalidArgument if the data is damaged or truncated.
Result<Buffer> Decompress(std::string_view data, uint64_t limit);
// Compresses the parts as one stream, at the fastest level.
Result<std::string> Compress(Encoding encoding, const std::vector<std::string_view>& parts);

}  // namespace tern::server
