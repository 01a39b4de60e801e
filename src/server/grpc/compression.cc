#include "server/grpc/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>

namespace tern::server {
namespace {

constexpr int kGzipWindow = 15 + 16, kZlibWindow = 15;

struct Inflater {
  z_stream stream{};
  bool open = false;
  explicit Inflater(Compression compression) {
    open = inflateInit2(&stream, compression == Compression::kGzip ? kGzipWindow : kZlibWindow) == Z_OK;
  }
  ~Inflater() {
    if (open) inflateEnd(&stream);
  }
};

struct Deflater {
  z_stream stream{};
  bool open = false;
  explicit Deflater(int level) {
    open = deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (open) deflateEnd(&stream);
  }
};

// Memory that grows by realloc.
struct Block {
  char* data = nullptr;
  size_t capacity = 0;
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(data); }
  bool Grow(size_t size) {
    void* larger = std::realloc(data, size);
    if (!larger) return false;
    data = static_cast<char*>(larger);
    capacity = size;
    return true;
  }
  Buffer Release(size_t size) {
    std::shared_ptr<void> owner(std::exchange(data, nullptr), std::free);
    void* start = owner.get();
    return Buffer::Borrow(start, size, std::move(owner));
  }
};

Status TooLarge(uint64_t limit) {
  return ResourceExhausted("the decompressed message exceeds the limit of ", limit, " bytes");
}

// Inflates all of the input. The output has room for one byte more than the limit, so that a longer result is
// noticed.
Result<Buffer> InflateAll(z_stream& stream, uint64_t limit) {
  Block out;
  size_t size = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    if (size == out.capacity) {
      if (size > limit) return TooLarge(limit);
      const uint64_t capacity = std::min<uint64_t>(std::max<size_t>(size * 2, 4096), limit + 1);
      if (!out.Grow(capacity)) return ResourceExhausted("out of memory");
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data) + size;
    stream.avail_out = static_cast<uInt>(std::min<size_t>(out.capacity - size, UINT32_MAX));
    const uInt room = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    size += room - stream.avail_out;
    const bool starved = code == Z_BUF_ERROR || (stream.avail_in == 0 && stream.avail_out > 0);
    if (code != Z_STREAM_END && ((code != Z_OK && code != Z_BUF_ERROR) || starved))
      return InvalidArgument("the compressed message is damaged");
  }
  if (size > limit) return TooLarge(limit);
  if (stream.avail_in) return InvalidArgument("the compressed message has bytes after its end");
  return out.Release(size);
}

void DeflatePart(z_stream& stream, const char* data, size_t size, int flush, std::string& out) {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
  stream.avail_in = static_cast<uInt>(size);
  int code = Z_OK;
  do {
    const size_t at = out.size();
    out.resize(at + std::max<size_t>(size / 2, 4096));
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + at;
    stream.avail_out = static_cast<uInt>(out.size() - at);
    code = deflate(&stream, flush);
    out.resize(out.size() - stream.avail_out);
  } while (stream.avail_out == 0 && code == Z_OK);
}

}  // namespace

Result<Buffer> Decompress(const Buffer& bytes, Compression compression, uint64_t limit) {
  if (bytes.size() == 0) return Buffer::Allocate(0);
  if (bytes.size() > UINT32_MAX) return TooLarge(limit);
  Inflater inflater(compression);
  if (!inflater.open) return ResourceExhausted("out of memory");
  inflater.stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  inflater.stream.avail_in = static_cast<uInt>(bytes.size());
  return InflateAll(inflater.stream, limit);
}

void CompressMessage(OutMessage& message, int level) {
  constexpr size_t kPrefix = 5, kMinBytes = 512;
  const size_t plain = message.size();
  if (plain < kPrefix + kMinBytes) return;
  Deflater deflater(level);
  if (!deflater.open) return;
  OutMessage out;
  for (size_t i = 0; i < message.part_count(); ++i) {
    const std::string_view part =
        message.Part(i).substr(i == 0 ? kPrefix : 0);  // part 0 starts with the prefix
    if (!part.empty()) DeflatePart(deflater.stream, part.data(), part.size(), Z_NO_FLUSH, out.head);
  }
  DeflatePart(deflater.stream, nullptr, 0, Z_FINISH, out.head);
  const size_t size = out.size();
  if (size + kPrefix >= plain) return;
  const char prefix[kPrefix] = {1, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                                static_cast<char>(size >> 8), static_cast<char>(size)};
  out.Prepend({prefix, kPrefix});
  message = std::move(out);
}

}  // namespace tern::server
