#include "server/core/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace tern::server {
namespace {

constexpr size_t kMaxBuffer = size_t{1} << 48;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSharedLimit = size_t{96} << 20;  // room for six tensors of 16 MiB

// Rounds up to a multiple of 1/32 of the largest power of two within `bytes`, so that requests of similar
// sizes share blocks.
size_t RoundUp(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 32;
  return (bytes + step - 1) / step * step;
}

Buffer AllocateSmall(size_t bytes) {
  constexpr size_t kAlign = 64;
  void* memory = std::aligned_alloc(kAlign, std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign));
  if (!memory) return {};
  return Buffer::Borrow(memory, bytes, std::shared_ptr<void>(memory, std::free));
}

}  // namespace

struct BufferPool::State {
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
    Clock::time_point freed;
  };

  explicit State(size_t limit_bytes) : limit(limit_bytes) { kept.reserve(limit / kMinBytes + 1); }
  ~State() {
    for (const Block& block : kept) munmap(block.memory, block.bytes);
  }

  // Removes the smallest kept block of at least `bytes` bytes and less than twice as many. Of equal blocks it
  // takes the one that was freed last, whose pages are most likely in the cache.
  Block Take(size_t bytes) {
    const std::lock_guard lock(mutex);
    size_t best = kept.size();
    for (size_t i = kept.size(); i-- > 0;)
      if (kept[i].bytes >= bytes && kept[i].bytes / 2 < bytes &&
          (best == kept.size() || kept[i].bytes < kept[best].bytes))
        best = i;
    return best < kept.size() ? Remove(best) : Block{};
  }

  // Keeps a block that a buffer no longer uses. The oldest blocks make room for it.
  void Keep(void* memory, size_t bytes) {
    if (bytes > limit) {
      munmap(memory, bytes);
      return;
    }
    const Block block{memory, bytes, Clock::now()};
    for (Block oldest = AddOrEvict(block); oldest.memory; oldest = AddOrEvict(block))
      munmap(oldest.memory, oldest.bytes);
  }

  // Adds the block, or removes and returns the oldest one if there is no room.
  Block AddOrEvict(const Block& block) {
    const std::lock_guard lock(mutex);
    if (block.bytes > limit - kept_bytes) return Remove(0);
    kept.push_back(block);  // within the reserved capacity
    kept_bytes += block.bytes;
    return {};
  }

  Block Remove(size_t i) {
    const Block block = kept[i];
    kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
    kept_bytes -= block.bytes;
    return block;
  }

  // Removes the oldest block if it was freed before `time`.
  Block TakeOlder(Clock::time_point time) {
    const std::lock_guard lock(mutex);
    return !kept.empty() && kept.front().freed < time ? Remove(0) : Block{};
  }

  const size_t limit;
  std::mutex mutex;         // guards the members below
  std::vector<Block> kept;  // in the order in which they were freed
  size_t kept_bytes = 0;
};

BufferPool::BufferPool(size_t limit) : state_(std::make_shared<State>(limit)) {}
BufferPool::~BufferPool() = default;

BufferPool& BufferPool::Shared() {
  // Never destroyed, because threads may still free buffers while the process exits.
  static BufferPool& pool = *new BufferPool(kSharedLimit);
  return pool;
}

Buffer BufferPool::Allocate(size_t bytes) {
  if (bytes > kMaxBuffer) return {};
  if (bytes < kMinBytes) return AllocateSmall(bytes);
  size_t size = RoundUp(bytes);
  const State::Block block = state_->Take(size);
  void* memory = block.memory;
  if (memory) {
    size = block.bytes;
  } else {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return {};
    // With small pages, TLB misses cost a quarter of the time that the server spends on a large tensor.
    if (size >= kHugePage) madvise(memory, size, MADV_HUGEPAGE);
  }
  return Buffer::Borrow(memory, bytes, std::shared_ptr<void>(memory, [state = state_, size](void* p) {
                          state->Keep(p, size);
                        }));
}

void BufferPool::ReleaseBefore(Clock::time_point time) {
  for (auto block = state_->TakeOlder(time); block.memory; block = state_->TakeOlder(time))
    munmap(block.memory, block.bytes);
}

size_t BufferPool::kept_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->kept_bytes;
}

}  // namespace tern::server
