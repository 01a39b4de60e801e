#include "server/core/compression.h"

#include <zlib.h>

#include <algorithm>

namespace tern::server {
namespace {

constexpr size_t kStep = size_t{1} << 30;  // one step fits into zlib's 32-bit counters

Bytef* In(std::string_view data) { return reinterpret_cast<Bytef*>(const_cast<char*>(data.data())); }

// zlib's parameter: 15 for its own header, + 16 for gzip's, + 32 to detect the header.
int WindowBits(Encoding encoding) {
  return encoding == Encoding::kGzip ? 15 + 16 : encoding == Encoding::kDeflate ? 15 : 15 + 32;
}

Buffer ToBuffer(std::shared_ptr<std::string> text) {
  char* data = text->data();
  const size_t size = text->size();
  return Buffer::Borrow(data, size, std::move(text));
}

class Inflater {
 public:
  explicit Inflater(Encoding encoding) { ready_ = inflateInit2(&stream_, WindowBits(encoding)) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Result<Buffer> Run(std::string_view data, uint64_t limit);

 private:
  z_stream stream_{};
  bool ready_ = false;
};

Result<Buffer> Inflater::Run(std::string_view data, uint64_t limit) {
  if (!ready_) return ResourceExhausted("out of memory");
  auto out = std::make_shared<std::string>();
  int state = Z_OK;
  size_t used = 0;
  while (state != Z_STREAM_END) {
    if (out->size() > limit)
      return ResourceExhausted("the decompressed data is longer than ", limit, " bytes");
    if (stream_.avail_in == 0 && used < data.size()) {
      const size_t step = std::min(kStep, data.size() - used);
      stream_.next_in = In(data.substr(used));
      stream_.avail_in = static_cast<uInt>(step);
      used += step;
    }
    const size_t before = out->size();
    const size_t room = std::clamp<size_t>(before, 16384, size_t{8} << 20);
    out->resize(before + room);
    stream_.next_out = reinterpret_cast<Bytef*>(out->data() + before);
    stream_.avail_out = static_cast<uInt>(room);
    state = inflate(&stream_, Z_NO_FLUSH);
    out->resize(before + room - stream_.avail_out);
    if (state != Z_OK && state != Z_STREAM_END)
      return InvalidArgument("the compressed data is damaged or truncated");
  }
  if (out->size() > limit) return ResourceExhausted("the decompressed data is longer than ", limit, " bytes");
  if (stream_.avail_in != 0 || used != data.size())
    return InvalidArgument("the compressed data is followed by other data");
  return ToBuffer(std::move(out));
}

}  // namespace

const char* EncodingName(Encoding encoding) {
  return encoding == Encoding::kGzip ? "gzip" : encoding == Encoding::kDeflate ? "deflate" : "identity";
}

Result<Buffer> Decompress(std::string_view data, uint64_t limit, Encoding encoding) {
  return Inflater(encoding).Run(data, limit);
}

Result<std::string> Compress(Encoding encoding, const std::vector<std::string_view>& parts, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, WindowBits(encoding), 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return ResourceExhausted("out of memory");
  std::string out;
  const auto run = [&](int flush) {
    do {
      const size_t before = out.size(), room = std::clamp<size_t>(before, 4096, size_t{8} << 20);
      out.resize(before + room);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream.avail_out = static_cast<uInt>(room);
      deflate(&stream, flush);
      out.resize(before + room - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (const std::string_view part : parts) {
    for (size_t at = 0; at < part.size(); at += kStep) {
      stream.next_in = In(part.substr(at));
      stream.avail_in = static_cast<uInt>(std::min(kStep, part.size() - at));
      run(Z_NO_FLUSH);
    }
  }
  run(Z_FINISH);
  deflateEnd(&stream);
  return out;
}

}  // namespace tern::server
