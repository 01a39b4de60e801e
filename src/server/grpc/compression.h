// gzip and deflate (with zlib's header) of single gRPC messages.
#pragma once
#include "server/grpc/metadata.h"
#include "server/grpc/out_message.h"

namespace tern::server {

// Fails with kInvalidArgument for damaged bytes, and with kResourceExhausted beyond `limit` bytes.
Result<Buffer> Decompress(const Buffer& bytes, Compression compression, uint64_t limit);

// Replaces a message, which has its prefix, by a gzip-compressed one with the compressed flag. A message that
// does not shrink stays as it is. level: 1 to 9.
void CompressMessage(OutMessage& message, int level);

}  // namespace tern::server
