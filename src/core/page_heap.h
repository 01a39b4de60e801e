// Large blocks of memory that live long, side by side, so that they share huge pages.
#pragma once
#include <cstddef>
#include <mutex>

#include "core/buffer.h"

namespace tern {

// Weights and states are streamed: with pages of 4 KiB, TLB misses cost half of the memory bandwidth. The
// system gives a huge page only where all of it is mapped when it is first touched. Blocks that are mapped
// one by one therefore have small pages at both ends. This heap maps memory ahead of its blocks instead. It
// never uses an address again, so it suits blocks that stay. Thread-safe; a child process after fork may use
// it.
class PageHeap {
 public:
  static constexpr size_t kPage = size_t{64} << 10;  // a multiple of what any system has
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kMinBlock = size_t{1} << 20;  // smaller blocks are not worth huge pages
  // The heap maps ahead once its blocks have this many bytes. Up to kHugePage bytes of the last huge page may
  // then be unused, which is much for a small model.
  static constexpr size_t kAheadFrom = size_t{32} << 20;

  // region: how many addresses the heap reserves at once; 0: as fits the limit of the process.
  explicit constexpr PageHeap(size_t region) : region_(region) {}
  ~PageHeap();  // blocks stay
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  // The heap of the process; never destroyed.
  static PageHeap& Get();

  // Zeroed, at a multiple of kPage. Null if the system grants no addresses or no memory.
  void* Allocate(size_t bytes);
  // Returns the memory of a block to the system. bytes: as for Allocate.
  static void Free(void* block, size_t bytes);

 private:
  bool Map(char* end);         // makes the region usable up to here
  bool Reserve(size_t bytes);  // replaces the region

  union Process;
  static Process process_;
  static const int fork_handlers_;

  const size_t region_;
  std::mutex mutex_;
  char *next_ = nullptr, *mapped_ = nullptr, *end_ = nullptr;  // of the current region
  size_t mapped_bytes_ = 0;                                    // of all regions
};

// Zeroed, 64-byte aligned memory for packed weights and states. Throws std::bad_alloc.
Buffer AllocateLongLived(size_t bytes);

}  // namespace tern
