#include "server/http/output.h"

#include <algorithm>
#include <utility>

namespace tern::server {
namespace {

constexpr size_t kCopyBytes = 4096;       // shorter pieces are appended to the text before them
constexpr size_t kKeepBytes = 64 * 1024;  // the memory of a longer text is freed after it is written
constexpr size_t kMaxParts = 64;          // parts per system call

}  // namespace

Output::Piece& Output::Append() {
  if (used_ == pieces_.size()) pieces_.emplace_back();
  return pieces_[used_++];
}

std::string& Output::Text() {
  if (used_ > first_ && !pieces_[used_ - 1].buffer.defined()) return pieces_[used_ - 1].text;
  return Append().text;
}

void Output::Add(std::string text) {
  if (text.size() < kCopyBytes) {
    Text() += text;
  } else {
    Append().text = std::move(text);
  }
}

void Output::Add(const Buffer& bytes) {
  if (bytes.size() < kCopyBytes) {
    Text().append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    Append().buffer = bytes;
  }
}

void Output::Add(Output&& other) {
  for (size_t i = other.first_; i < other.used_; ++i) {
    Piece& piece = other.pieces_[i];
    if (piece.buffer.defined())
      Add(piece.buffer);
    else
      Add(std::move(piece.text));
  }
  other.Clear();
}

size_t Output::bytes() const {
  size_t sum = 0;
  for (size_t i = first_; i < used_; ++i) sum += left(pieces_[i]);
  return sum;
}

size_t Output::memory() const {
  size_t sum = 0;
  for (const Piece& piece : pieces_) sum += sizeof(Piece) + piece.text.capacity();
  return sum;
}

void Output::Clear() {
  for (size_t i = 0; i < used_; ++i) {
    Piece& piece = pieces_[i];
    piece.text.clear();
    if (piece.text.capacity() > kKeepBytes) std::string().swap(piece.text);
    piece.buffer = Buffer();
    piece.sent = 0;
  }
  first_ = used_ = 0;
  if (pieces_.size() > 16) pieces_.resize(16);
}

void Output::Sent(size_t bytes) {
  while (first_ < used_) {
    Piece& piece = pieces_[first_];
    const size_t step = std::min(bytes, left(piece));
    piece.sent += step;
    bytes -= step;
    if (left(piece) > 0) return Compact();
    piece.buffer = Buffer();
    piece.text.clear();
    if (piece.text.capacity() > kKeepBytes) std::string().swap(piece.text);
    piece.sent = 0;
    ++first_;
  }
  Clear();
}

// Frees what is written. A client that is always behind would otherwise let the memory grow for ever.
void Output::Compact() {
  if (first_ >= kMaxParts && first_ >= used_ - first_) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_));
    used_ -= first_;
    first_ = 0;
  }
  Piece& piece = pieces_[first_];
  if (piece.buffer.defined() || piece.sent < kKeepBytes || piece.sent < left(piece)) return;
  piece.text.erase(0, std::exchange(piece.sent, 0));
}

Stream::Outcome Output::Flush(Stream& stream, size_t& written) {
  written = 0;
  while (first_ < used_) {
    iovec parts[kMaxParts];
    int count = 0;
    for (size_t i = first_; i < used_ && count < static_cast<int>(kMaxParts); ++i) {
      Piece& piece = pieces_[i];
      if (left(piece) == 0) continue;
      char* data = piece.buffer.defined() ? reinterpret_cast<char*>(piece.buffer.data()) : piece.text.data();
      parts[count++] = {data + piece.sent, left(piece)};
    }
    size_t step = 0;
    const auto outcome = count ? stream.Write(parts, count, step) : Stream::Outcome::kDone;
    if (outcome != Stream::Outcome::kDone) return outcome;
    Sent(step);
    written += step;
  }
  return Stream::Outcome::kDone;
}

}  // namespace tern::server
