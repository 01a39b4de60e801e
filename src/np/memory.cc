#include "np/memory.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace tern::v1::np {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr size_t kLarge = size_t{128} << 10;    // malloc maps new pages for each larger block
constexpr size_t kMostHeld = size_t{64} << 20;  // bytes that are kept for reuse

struct alignas(64) Line {
  std::byte bytes[64];
};

// Freed blocks, in the order in which they were freed.
class BlockCache {
 public:
  struct Block {
    void* data;
    size_t bytes;
  };

  // Returns the smallest block of `bytes` to 2 * `bytes`, or a new one.
  Block Take(size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      auto best = blocks_.end();
      for (auto it = blocks_.begin(); it != blocks_.end(); ++it)
        if (it->bytes >= bytes && it->bytes / 2 <= bytes &&
            (best == blocks_.end() || it->bytes < best->bytes))
          best = it;
      if (best != blocks_.end()) {
        const Block found = *best;
        held_ -= found.bytes;
        blocks_.erase(best);
        return found;
      }
    }
    return {::operator new(bytes, kAlignment), bytes};
  }

  // Keeps a block, and frees older ones if there are too many.
  void Give(Block block) noexcept {
    const std::lock_guard lock(mutex_);
    const bool fits = block.bytes <= kMostHeld && blocks_.size() < kMostBlocks;
    if (!fits) return ::operator delete(block.data, kAlignment);
    while (held_ + block.bytes > kMostHeld) {
      held_ -= blocks_.front().bytes;
      ::operator delete(blocks_.front().data, kAlignment);
      blocks_.erase(blocks_.begin());
    }
    blocks_.push_back(block);
    held_ += block.bytes;
  }

  BlockCache() { blocks_.reserve(kMostBlocks); }

 private:
  static constexpr size_t kMostBlocks = kMostHeld / kLarge;
  std::mutex mutex_;
  std::vector<Block> blocks_;  // never grows beyond its first allocation, so that Give cannot fail
  size_t held_ = 0;
};

BlockCache& Cache() {
  static BlockCache& cache = *new BlockCache;  // never destroyed, because arrays may outlive it
  return cache;
}

}  // namespace

std::shared_ptr<void> AllocateElements(size_t bytes) {
  if (bytes < kLarge) {
    auto lines = std::make_shared_for_overwrite<Line[]>(
        std::max<size_t>(1, (bytes + sizeof(Line) - 1) / sizeof(Line)));
    void* data = lines.get();
    return {std::move(lines), data};
  }
  const BlockCache::Block block = Cache().Take(bytes);
  return {block.data, [block](void*) { Cache().Give(block); }};
}

}  // namespace tern::v1::np
