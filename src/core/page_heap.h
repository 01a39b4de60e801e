// A heap for large blocks of memory. Blocks lie side by side, so that they share huge pages.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>

#include "core/buffer.h"

namespace tern {

// Weights are streamed: with pages of 4 KiB, TLB misses cost half of the memory bandwidth. The system gives a
// huge page only where all of it is mapped when it is first touched. Blocks that are mapped one by one
// therefore have small pages at both ends. This heap maps memory ahead of its blocks instead. Thread-safe.
class PageHeap {
 public:
  static constexpr size_t kPage = size_t{64} << 10;  // a multiple of every system's page size
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kMinBlock = size_t{1} << 20;  // smaller buffers are not worth huge pages

  // ahead_from: the heap maps ahead once its blocks have this many bytes. Up to kHugePage bytes of the last
  // huge page may then stay unused, which is too much for a small model. reserved: the size of a region of
  // addresses, in bytes. Addresses alone take no memory.
  explicit PageHeap(size_t ahead_from, size_t reserved = size_t{64} << 30)
      : ahead_from_(ahead_from), reserved_(reserved) {}
  ~PageHeap();
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  // The heaps of the process; never destroyed. Packed weights have their own heap. Packed weights stay, but
  // the original weights are freed one by one, which splits the huge pages beside them.
  static PageHeap& Get();
  static PageHeap& ForPackedWeights();

  // Returns zeroed memory at a multiple of kPage, or null if the system grants no addresses or no memory.
  void* Allocate(size_t bytes);
  // Frees a block that Allocate returned for the same size. The memory goes back to the system.
  void Free(void* block, size_t bytes);

 private:
  using Address = char*;
  Address TakeFree(size_t bytes);   // takes from freed blocks; null if none is large enough
  Address TakeFresh(size_t bytes);  // takes from the end of the region
  bool Map(Address end);            // makes the region usable up to `end`
  bool Reserve(size_t bytes);       // starts a new region
  void AddFree(Address begin, size_t bytes);

  const size_t ahead_from_, reserved_;
  std::mutex mutex_;
  Address next_ = nullptr, mapped_ = nullptr, end_ = nullptr;  // of the current region
  size_t mapped_bytes_ = 0;                                    // of all regions
  std::map<Address, size_t> free_;                             // keyed by address; adjacent blocks are joined
  std::map<Address, size_t> regions_;
};

// Zeroed, 64-byte aligned memory for packed weights.
Buffer AllocatePackedWeights(size_t bytes);

}  // namespace tern
