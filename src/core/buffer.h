// Bytes with an owner: heap, mapped file, or somebody else's memory. Copies share.
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
  // Zeroed, 64-byte aligned.
  static Buffer Allocate(size_t bytes);
  // n default-constructed std::string objects.
  static Buffer AllocateStrings(size_t n);
  // Memory kept alive by `owner` (may be null: the caller promises it outlives the buffer). space: where it
  // lies.
  static Buffer Borrow(void* data, size_t bytes, std::shared_ptr<const void> owner,
                       MemorySpace* space = nullptr);
  // Read-only map of a whole file.
  static Result<Buffer> MapFile(const std::string& path);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  MemorySpace* space() const { return space_; }  // null: the host's memory
  bool defined() const { return data_ != nullptr || owner_ != nullptr; }
  // False for memory that only the caller's promise keeps alive.
  bool owned() const { return owner_ != nullptr; }
  // A window that keeps the whole alive.
  Buffer Slice(size_t offset, size_t bytes) const;
  bool SharesWith(const Buffer& other) const { return owner_ && owner_ == other.owner_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
  MemorySpace* space_ = nullptr;
};

}  // namespace tern
