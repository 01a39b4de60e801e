#include "core/page_heap.h"

#include <sys/mman.h>

#include <algorithm>

namespace tern {
namespace {

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
char* RoundUp(char* address, size_t to) {
  return address + (to - reinterpret_cast<size_t>(address) % to) % to;
}

}  // namespace

PageHeap& PageHeap::Get() {
  static PageHeap* heap = new PageHeap(size_t{256} << 20);
  return *heap;
}

PageHeap& PageHeap::ForPackedWeights() {
  static PageHeap* heap = new PageHeap(size_t{32} << 20);
  return *heap;
}

PageHeap::~PageHeap() {
  for (const auto& [begin, bytes] : regions_) munmap(begin, bytes);
}

void* PageHeap::Allocate(size_t bytes) {
  bytes = RoundUp(std::max<size_t>(bytes, 1), kPage);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (Address block = TakeFree(bytes)) return block;
  return TakeFresh(bytes);
}

void PageHeap::Free(void* block, size_t bytes) {
  bytes = RoundUp(std::max<size_t>(bytes, 1), kPage);
  madvise(block, bytes, MADV_DONTNEED);  // these pages read as zeros from now on
  const std::lock_guard<std::mutex> lock(mutex_);
  AddFree(static_cast<Address>(block), bytes);
}

PageHeap::Address PageHeap::TakeFree(size_t bytes) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [begin, size] = *it;
    if (size < bytes) continue;
    free_.erase(it);
    if (size > bytes) free_.emplace(begin + bytes, size - bytes);
    return begin;
  }
  return nullptr;
}

PageHeap::Address PageHeap::TakeFresh(size_t bytes) {
  if (static_cast<size_t>(end_ - next_) < bytes && !Reserve(bytes)) return nullptr;
  const Address block = next_;
  if (!Map(block + bytes)) return nullptr;
  next_ = block + bytes;
  return block;
}

bool PageHeap::Map(Address end) {
  if (end <= mapped_) return true;
  const bool ahead = mapped_bytes_ + static_cast<size_t>(end - mapped_) >= ahead_from_;
  if (ahead) end = std::min(RoundUp(end, kHugePage), end_);
  const auto bytes = static_cast<size_t>(end - mapped_);
  if (mprotect(mapped_, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  madvise(mapped_, bytes, MADV_HUGEPAGE);  // a failure costs speed only
  mapped_ = end;
  mapped_bytes_ += bytes;
  return true;
}

bool PageHeap::Reserve(size_t bytes) {
  const size_t size = std::max(reserved_, RoundUp(bytes, kHugePage)) + kHugePage;
  void* data = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return false;
  if (next_ < mapped_) AddFree(next_, static_cast<size_t>(mapped_ - next_));
  const auto begin = static_cast<Address>(data);
  regions_.emplace(begin, size);
  next_ = mapped_ = RoundUp(begin, kHugePage);
  end_ = begin + size;
  return true;
}

void PageHeap::AddFree(Address begin, size_t bytes) {
  auto after = free_.lower_bound(begin);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  if (after != free_.end() && begin + bytes == after->first) {
    bytes += after->second;
    free_.erase(after);
  }
  free_.emplace(begin, bytes);
}

Buffer AllocatePackedWeights(size_t bytes) {
  PageHeap& heap = PageHeap::ForPackedWeights();
  void* data = bytes < PageHeap::kMinBlock ? nullptr : heap.Allocate(bytes);
  if (!data) return Buffer::Allocate(bytes);
  return Buffer::Borrow(data, bytes, std::shared_ptr<void>(data, [bytes](void* p) {
                          PageHeap::ForPackedWeights().Free(p, bytes);
                        }));
}

}  // namespace tern
