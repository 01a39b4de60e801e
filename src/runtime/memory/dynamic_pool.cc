#include "runtime/memory/dynamic_pool.h"

#include <algorithm>

namespace tern {
namespace {

// Adds 1/8, so that a value that grows from run to run seldom needs a new block.
size_t Rounded(size_t bytes) { return (bytes + bytes / 8 + 255) / 256 * 256; }

}  // namespace

Result<Buffer> DynamicPool::Take(size_t bytes) {
  size_t best = blocks_.size(), smallest = blocks_.size();
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].use_count() != 1) continue;
    const size_t size = blocks_[i]->size();
    if (size >= bytes && (best == blocks_.size() || size < blocks_[best]->size())) best = i;
    if (smallest == blocks_.size() || size < blocks_[smallest]->size()) smallest = i;
  }
  if (best == blocks_.size()) {
    // No free block is large enough, so a new block replaces the smallest free block.
    if (smallest != blocks_.size()) {
      bytes_ -= blocks_[smallest]->size();
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(smallest));
    }
    if (bytes > limit_ || bytes_ > limit_ - bytes)
      return ResourceExhausted("a run needs ", bytes, " more bytes for values of dynamic size; ", bytes_,
                               " are allocated, but the limit is ", limit_);
    best = blocks_.size();
    blocks_.push_back(
        std::make_shared<const Buffer>(Buffer::Allocate(std::min(Rounded(bytes), limit_ - bytes_))));
    bytes_ += blocks_.back()->size();
    peak_ = std::max(peak_, bytes_);
  }
  const auto& block = blocks_[best];
  return Buffer::Borrow(block->data(), block->size(), block);
}

}  // namespace tern
