// Decodes a body of the transfer encoding "chunked".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

// Strict: lines end in CR LF, sizes have 1 to 15 hexadecimal digits, at most max_chunks chunks have data.
// Extensions and trailers are ignored.
class ChunkDecoder {
 public:
  static constexpr size_t kMaxChunks = 65536;  // Triton's limit
  explicit ChunkDecoder(uint64_t limit, size_t max_chunks = kMaxChunks)
      : limit_(limit), max_chunks_(max_chunks) {}

  // Consumes bytes up to the end of the body, appends the decoded ones to `body`, and sets `used` to the
  // number of consumed bytes. Fails with kResourceExhausted if the body gets longer than the limit, and with
  // kInvalidArgument for anything malformed.
  Status Feed(std::string_view data, std::string& body, size_t& used);
  bool done() const { return state_ == State::kDone; }

 private:
  enum class State { kSize, kExtension, kSizeLf, kData, kDataCr, kDataLf, kTrailer, kTrailerLf, kDone };
  Status Step(char c);
  Status Size(char c);

  const uint64_t limit_;
  const size_t max_chunks_;
  State state_ = State::kSize;
  uint64_t left_ = 0;   // bytes of the current chunk that have not arrived
  int digits_ = 0;      // number of digits of the chunk's size so far
  size_t line_ = 0;     // bytes of the current line of the trailer
  size_t chunks_ = 0;   // number of chunks with data
  size_t ignored_ = 0;  // bytes of extensions and trailers
};

}  // namespace tern::server
