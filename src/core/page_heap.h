// Allocates large, long-lived blocks of memory side by side, so that they share huge pages.
#pragma once
#include <cstddef>
#include <mutex>

#include "core/buffer.h"

namespace tern {

// Huge pages avoid TLB misses, which cost a third to half of the memory bandwidth when a kernel streams
// weights or states. The system uses a huge page only if all of its bytes are mapped when the first byte is
// touched. If each block were mapped alone, it would have small pages at both ends. This heap therefore maps
// entire huge pages, even if their last bytes do not belong to a block yet. It never reuses the addresses of
// freed blocks, so it is meant for long-lived blocks. Thread-safe. A child process may use the heap after a
// fork.
class PageHeap {
 public:
  static constexpr size_t kPage = size_t{64} << 10;  // a multiple of the page size of any system
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kMinBlock = size_t{1} << 20;  // smaller blocks are not worth huge pages
  // The heap maps entire huge pages once it has mapped this many bytes. Before that, it maps only its blocks.
  // Otherwise a small model could waste almost kHugePage bytes in the last huge page.
  static constexpr size_t kAheadFrom = size_t{32} << 20;

  // `region` is the number of bytes of address space that the heap reserves at once. If `region` is 0, the
  // heap reserves 1/16 of the process's limit on address space, but at least 64 MiB and at most 1 GiB.
  explicit constexpr PageHeap(size_t region) : region_(region) {}
  ~PageHeap();  // does not free blocks
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  // The heap of the process; never destroyed.
  static PageHeap& Get();

  // Returns zeroed memory at a multiple of kPage, or null if the system has no addresses or no memory left.
  void* Allocate(size_t bytes);
  // Returns the memory of a block to the system. `bytes` is the size that was passed to Allocate.
  static void Free(void* block, size_t bytes);

 private:
  bool Map(char* end);         // makes the current region readable and writable up to `end`
  bool Reserve(size_t bytes);  // replaces the current region by a new one of at least `bytes` bytes

  union Process;
  static Process process_;
  static const int fork_handlers_;

  const size_t region_;
  std::mutex mutex_;
  char *next_ = nullptr, *mapped_ = nullptr, *end_ = nullptr;  // addresses in the current region
  size_t mapped_bytes_ = 0;                                    // number of bytes mapped in all regions
};

// Allocates zeroed, 64-byte aligned memory for packed weights and states, from the PageHeap if `bytes` is at
// least kMinBlock. If the heap has no memory, uses Buffer::Allocate, which throws std::bad_alloc.
Buffer AllocateLongLived(size_t bytes);

}  // namespace tern
