#include "server/grpc/out_buffer.h"

#include <algorithm>

namespace tern::server {

void OutBuffer::Append(const void* data, size_t size) {
  if (size == 0) return;
  if (empty() || pieces_.back().data) pieces_.push_back({nullptr, copies_.size(), 0, {}});
  copies_.append(static_cast<const char*>(data), size);
  pieces_.back().size += size;
  size_ += size;
}

void OutBuffer::AppendReference(const void* data, size_t size, const Buffer& owner) {
  if (size == 0) return;
  pieces_.push_back({static_cast<const char*>(data), 0, size, owner});
  size_ += size;
}

int OutBuffer::Parts(iovec* parts, int limit) const {
  int count = 0;
  for (size_t i = first_; i < pieces_.size() && count < limit; ++i, ++count) {
    const Piece& piece = pieces_[i];
    const char* data = piece.data ? piece.data : copies_.data() + piece.offset;
    parts[count] = {const_cast<char*>(data), piece.size};
  }
  return count;
}

void OutBuffer::Consume(size_t bytes) {
  size_ -= bytes;
  while (bytes > 0) {
    Piece& piece = pieces_[first_];
    const size_t part = std::min(bytes, piece.size);
    bytes -= part;
    piece.size -= part;
    if (piece.data) {
      piece.data += part;
    } else {
      piece.offset += part;
      dead_ += part;
    }
    if (piece.size) break;
    piece.owner = {};
    ++first_;
  }
  if (empty())
    Clear();
  else
    Compact();
}

// Frees what is written. A client that is always behind would otherwise let the memory grow for ever.
void OutBuffer::Compact() {
  constexpr size_t kDeadBytes = size_t{64} << 10, kDeadPieces = 1024;
  if (first_ >= kDeadPieces && first_ >= pieces_.size() / 2) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
  if (dead_ < kDeadBytes || dead_ < copies_.size() / 2) return;
  copies_.erase(0, dead_);
  for (size_t i = first_; i < pieces_.size(); ++i)
    if (!pieces_[i].data) pieces_[i].offset -= dead_;
  dead_ = 0;
}

void OutBuffer::Clear() {
  constexpr size_t kKeptBytes = size_t{64} << 10, kKeptPieces = 1024;
  if (copies_.capacity() > kKeptBytes) std::string().swap(copies_);
  if (pieces_.capacity() > kKeptPieces) std::vector<Piece>().swap(pieces_);
  copies_.clear();
  pieces_.clear();
  first_ = dead_ = 0;
}

}  // namespace tern::server
