// Bytes that wait to be written to a socket. Small pieces are copied, large pieces are kept by reference.
#pragma once
#include <sys/uio.h>

#include <string>
#include <vector>

#include "core/buffer.h"

namespace tern::server {

class OutBuffer {
 public:
  // Returns the memory of this object in bytes. It includes bytes that were written but are not freed yet. It
  // does not include bytes that an `owner` keeps alive.
  size_t held() const { return copies_.size() + pieces_.size() * sizeof(Piece); }
  bool empty() const { return first_ == pieces_.size(); }
  size_t size() const { return size_; }

  void Append(const void* data, size_t size);
  // Refers to `size` bytes at `data`, which `owner` keeps alive.
  void AppendReference(const void* data, size_t size, const Buffer& owner);

  // Points at most `limit` parts to the first bytes. Returns the number of parts.
  int Parts(iovec* parts, int limit) const;
  // Drops the first `bytes` bytes, which were written.
  void Consume(size_t bytes);

 private:
  struct Piece {
    const char* data = nullptr;  // null if the bytes are in copies_, at `offset`
    size_t offset = 0;
    size_t size = 0;
    Buffer owner;
  };
  void Clear();
  void Compact();

  std::string copies_;
  std::vector<Piece> pieces_;
  size_t first_ = 0;  // index of the first piece that is not written
  size_t size_ = 0;
  size_t dead_ = 0;  // bytes at the start of copies_ that are written
};

}  // namespace tern::server
