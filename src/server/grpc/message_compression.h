// Compresses single gRPC messages with gzip. Decompresses gzip and deflate (with zlib's header).
#pragma once
#include "server/grpc/metadata.h"
#include "server/grpc/out_message.h"

namespace tern::server {

// Fails with kInvalidArgument if the bytes are damaged, and with kResourceExhausted if the result has more
// than `limit` bytes.
Result<Buffer> Decompress(const Buffer& bytes, Compression compression, uint64_t limit);

// Compresses a message with gzip and sets the compressed flag in its prefix. Leaves a message as it is if it
// would not become shorter. `level` is 1 to 9.
void CompressMessage(OutMessage& message, int level);

}  // namespace tern::server
