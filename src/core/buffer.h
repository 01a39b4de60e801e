// A reference to bytes in heap memory, in a mapped file, or in memory of the caller. Copies share the bytes.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"

namespace tern {

class MemorySpace;

class Buffer {
 public:
  Buffer() = default;
  // Allocates zeroed, 64-byte aligned memory. Throws std::bad_alloc.
  static Buffer Allocate(size_t bytes);
  // Allocates n default-constructed std::string objects.
  static Buffer AllocateStrings(size_t n);
  // Returns a buffer over memory that `owner` keeps alive. If `owner` is null, the caller guarantees that the
  // memory outlives the buffer. `space` is the memory space of the bytes; null means host memory.
  static Buffer Borrow(void* data, size_t bytes, std::shared_ptr<const void> owner,
                       MemorySpace* space = nullptr);
  // Maps an entire file for reading. Fails with kNotFound or kIo.
  static Result<Buffer> MapFile(const std::string& path);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  MemorySpace* space() const { return space_; }  // null for host memory
  bool defined() const { return data_ != nullptr || owner_ != nullptr; }
  // Returns false if the buffer has no owner. The creator of the buffer must then keep the memory alive.
  bool owned() const { return owner_ != nullptr; }
  // Returns a view of `bytes` bytes that starts at `offset`. The view keeps the entire buffer alive.
  Buffer Slice(size_t offset, size_t bytes) const;
  bool SharesWith(const Buffer& other) const { return owner_ && owner_ == other.owner_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
  MemorySpace* space_ = nullptr;
};

}  // namespace tern
