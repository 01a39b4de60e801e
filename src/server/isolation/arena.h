// Shared memory for the tensors of one instance. The server makes the memory object. Its seals prevent both
// sides from shrinking it, so that an access to a mapping cannot fail.
#pragma once
#include <deque>

#include "server/core/backend.h"
#include "server/isolation/unique_fd.h"

namespace tern::server {

// A mapping of bytes of a memory object.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping();
  static Result<Mapping> Map(int fd, uint64_t offset, uint64_t bytes);
  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

// Makes a memory object of at least one page.
Result<UniqueFd> MakeArena();
// Returns whether a seal prevents the object from becoming smaller.
bool IsSealed(int fd);

// The server's side of an object.
class Arena {
 public:
  static Result<Arena> Create();
  int fd() const { return fd_.get(); }
  std::byte* data() const { return mapping_.data(); }
  uint64_t size() const { return mapping_.size(); }
  // Makes the object and the mapping at least this large. Pointers into the mapping become invalid.
  Status Grow(uint64_t bytes);
  // Maps the memory that the other side has added. Fails if the object has fewer than `bytes` bytes.
  Status MapAtLeast(uint64_t bytes);
  // Returns memory beyond 32 MiB to the system.
  void Trim();

 private:
  UniqueFd fd_;
  Mapping mapping_;
};

// The process's side of an object. It allocates the memory of outputs and enlarges the object as needed.
class ArenaMemory : public OutputMemory {
 public:
  explicit ArenaMemory(UniqueFd fd) : fd_(std::move(fd)) {}
  // Frees all memory that Allocate returned.
  Status Reset();
  Buffer Allocate(size_t bytes) override;
  // Returns the offset of bytes that Allocate returned, or -1.
  int64_t OffsetOf(const std::byte* data) const;

 private:
  struct Segment {
    uint64_t offset = 0;
    Mapping mapping;
    uint64_t used = 0;
  };
  UniqueFd fd_;
  std::deque<Segment> segments_;
};

}  // namespace tern::server
