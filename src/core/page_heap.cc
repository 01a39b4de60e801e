#include "core/page_heap.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

namespace tern {
namespace {

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
char* RoundUp(char* address, size_t to) {
  return address + (to - reinterpret_cast<size_t>(address) % to) % to;
}
size_t SizeOfBlock(size_t bytes) { return RoundUp(std::max<size_t>(bytes, 1), PageHeap::kPage); }

// Returns 1/16 of the process's limit on address space, clamped to [kMin, kMax].
size_t RegionSize() {
  constexpr size_t kMin = size_t{64} << 20, kMax = size_t{1} << 30;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMax;
  return std::clamp<size_t>(limit.rlim_cur / 16, kMin, kMax);
}

}  // namespace

// Constructs the heap of the process at compile time and never destroys it. If the heap were constructed on
// first use, one thread could construct it while another thread forks. The child process would then wait
// forever for the construction to end.
union PageHeap::Process {
  constexpr Process() : heap(0) {}
  ~Process() {}
  PageHeap heap;
};
constinit PageHeap::Process PageHeap::process_;

PageHeap& PageHeap::Get() { return process_.heap; }

// The thread that forks holds the mutex during the fork. If another thread held it, the mutex would stay
// locked in the child process, which does not have that thread.
const int PageHeap::fork_handlers_ =
    pthread_atfork([] { Get().mutex_.lock(); }, [] { Get().mutex_.unlock(); }, [] { Get().mutex_.unlock(); });

PageHeap::~PageHeap() {
  if (next_ < end_) munmap(next_, static_cast<size_t>(end_ - next_));
}

void* PageHeap::Allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  bytes = SizeOfBlock(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (static_cast<size_t>(end_ - next_) < bytes && !Reserve(bytes)) return nullptr;
  char* block = next_;
  if (!Map(block + bytes)) return nullptr;
  next_ = block + bytes;
  return block;
}

void PageHeap::Free(void* block, size_t bytes) { munmap(block, SizeOfBlock(bytes)); }

bool PageHeap::Map(char* end) {
  if (end <= mapped_) return true;
  if (mapped_bytes_ + static_cast<size_t>(end - mapped_) >= kAheadFrom)
    end = std::min(RoundUp(end, kHugePage), end_);
  const auto bytes = static_cast<size_t>(end - mapped_);
  if (mprotect(mapped_, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  madvise(mapped_, bytes, MADV_HUGEPAGE);  // a failure is harmless: the pages are then small
  mapped_ = end;
  mapped_bytes_ += bytes;
  return true;
}

bool PageHeap::Reserve(size_t bytes) {
  const size_t size = std::max(region_ ? region_ : RegionSize(), RoundUp(bytes, kHugePage)) + kHugePage;
  void* data = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return false;
  if (next_ < end_) munmap(next_, static_cast<size_t>(end_ - next_));
  end_ = static_cast<char*>(data) + size;
  next_ = mapped_ = RoundUp(static_cast<char*>(data), kHugePage);
  if (data != next_) munmap(data, static_cast<size_t>(next_ - static_cast<char*>(data)));
  return true;
}

Buffer AllocateLongLived(size_t bytes) {
  void* data = bytes < PageHeap::kMinBlock ? nullptr : PageHeap::Get().Allocate(bytes);
  if (!data) return Buffer::Allocate(bytes);
  return Buffer::Borrow(data, bytes,
                        std::shared_ptr<void>(data, [bytes](void* p) { PageHeap::Free(p, bytes); }));
}

}  // namespace tern
