#include "server/grpc/message_compression.h"

#include "server/core/compression.h"

namespace tern::server {

Result<Buffer> Decompress(const Buffer& bytes, Compression compression, uint64_t limit) {
  if (bytes.size() == 0) return Buffer::Allocate(0);
  const std::string_view data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Decompress(data, limit, compression == Compression::kGzip ? Encoding::kGzip : Encoding::kDeflate);
}

void CompressMessage(OutMessage& message, int level) {
  constexpr size_t kPrefix = 5, kMinBytes = 512;
  const size_t plain = message.size();
  if (plain < kPrefix + kMinBytes) return;
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < message.part_count(); ++i)
    parts.push_back(message.Part(i).substr(i == 0 ? kPrefix : 0));  // part 0 starts with the prefix
  auto compressed = Compress(Encoding::kGzip, parts, level);
  if (!compressed.ok() || compressed->size() + kPrefix >= plain) return;
  OutMessage out;
  out.head += *compressed;
  const size_t size = out.size();
  const char prefix[kPrefix] = {1, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                                static_cast<char>(size >> 8), static_cast<char>(size)};
  out.Prepend({prefix, kPrefix});
  message = std::move(out);
}

}  // namespace tern::server
