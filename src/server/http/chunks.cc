#include "server/http/chunks.h"

#include <algorithm>

#include "server/http/decimal.h"

namespace tern::server {
namespace {

constexpr size_t kMaxIgnored = 16384;

Status Malformed() { return InvalidArgument("malformed chunked body"); }

}  // namespace

Status ChunkDecoder::Feed(std::string_view data, std::string& body, size_t& used) {
  used = 0;
  while (used < data.size() && state_ != State::kDone) {
    if (state_ != State::kData) {
      TERN_TRY(Step(data[used++]));
      continue;
    }
    const size_t bytes = static_cast<size_t>(std::min<uint64_t>(left_, data.size() - used));
    if (bytes > limit_ - body.size()) return ResourceExhausted("the body is longer than ", limit_, " bytes");
    body.append(data.substr(used, bytes));
    used += bytes;
    left_ -= bytes;
    if (left_ == 0) state_ = State::kDataCr;
  }
  return {};
}

Status ChunkDecoder::Size(char c) {
  if (const int digit = HexDigit(c); digit >= 0) {
    if (++digits_ > 15) return Malformed();
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    return {};
  }
  if (digits_ == 0) return Malformed();
  if (c == '\r')
    state_ = State::kSizeLf;
  else if (c == ';')
    state_ = State::kExtension;
  else
    return Malformed();
  return {};
}

Status ChunkDecoder::Step(char c) {
  switch (state_) {
    case State::kSize:
      return Size(c);
    case State::kExtension:
      if (c == '\r')
        state_ = State::kSizeLf;
      else if (c == '\n' || c == '\0' || ++ignored_ > kMaxIgnored)
        return Malformed();
      return {};
    case State::kSizeLf:
      if (c != '\n') return Malformed();
      state_ = left_ ? State::kData : State::kTrailer;
      if (left_ && ++chunks_ > max_chunks_)
        return InvalidArgument("Chunked request body exceeds maximum of ", max_chunks_,
                               " non-empty chunks. Send fewer or larger HTTP chunks.");
      digits_ = 0;
      return {};
    case State::kDataCr:
      state_ = State::kDataLf;
      return c == '\r' ? Status() : Malformed();
    case State::kDataLf:
      state_ = State::kSize;
      return c == '\n' ? Status() : Malformed();
    case State::kTrailer:
      if (c == '\r')
        state_ = State::kTrailerLf;
      else if (c == '\n' || c == '\0' || ++ignored_ > kMaxIgnored)
        return Malformed();
      else
        ++line_;
      return {};
    default:  // kTrailerLf
      if (c != '\n') return Malformed();
      state_ = line_ ? State::kTrailer : State::kDone;
      line_ = 0;
      return {};
  }
}

}  // namespace tern::server
