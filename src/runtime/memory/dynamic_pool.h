// Memory for values whose size is known only at run time. Blocks stay allocated between runs. A block is
// reused when no buffer refers to it.
#pragma once
#include <memory>
#include <vector>

#include "core/buffer.h"

namespace tern {

class DynamicPool {
 public:
  // `limit` is the maximum total size of all blocks, in bytes.
  explicit DynamicPool(size_t limit) : limit_(limit) {}
  // Returns a block of at least `bytes` bytes with arbitrary contents. The block is in use while the returned
  // buffer or a copy of it exists. Fails with kResourceExhausted if the pool would exceed its limit.
  Result<Buffer> Take(size_t bytes);
  size_t bytes() const { return bytes_; }
  size_t peak_bytes() const { return peak_; }

 private:
  std::vector<std::shared_ptr<const Buffer>> blocks_;
  size_t limit_;
  size_t bytes_ = 0, peak_ = 0;
};

}  // namespace tern
