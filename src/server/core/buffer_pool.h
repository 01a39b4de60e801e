// Reuses the memory of large requests and responses. A fresh mapping costs a page fault per page, and the
// system zeroes each page: for large tensors that takes longer than receiving them.
#pragma once
#include <chrono>
#include <memory>

#include "core/buffer.h"

namespace tern::server {

// Thread-safe. Buffers may outlive the pool.
class BufferPool {
 public:
  using Clock = std::chrono::steady_clock;
  // Smaller buffers come from malloc and are not kept.
  static constexpr size_t kMinBytes = size_t{128} << 10;

  // The pool keeps at most `limit` bytes of freed memory.
  explicit BufferPool(size_t limit);
  ~BufferPool();
  // The pool that the front ends and the back ends share. It keeps at most 96 MiB.
  static BufferPool& Shared();

  // Returns memory that is aligned to 64 bytes and not zeroed. Returns an undefined buffer if there is none.
  // The first access to a buffer of at least 2 MiB may take 2 MiB of memory (a huge page).
  Buffer Allocate(size_t bytes);
  // Returns the memory to the system that was freed before `time` and not used since.
  void ReleaseBefore(Clock::time_point time);
  size_t kept_bytes() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace tern::server
