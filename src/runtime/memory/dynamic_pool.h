// Memory for values whose size is known only in the run. Blocks are kept between runs and handed out again
// once nobody holds them.
#pragma once
#include <memory>
#include <vector>

#include "core/buffer.h"

namespace tern {

class DynamicPool {
 public:
  explicit DynamicPool(size_t limit) : limit_(limit) {}
  // Contents are arbitrary. The block is in use while the buffer, or a copy of it, lives.
  Result<Buffer> Take(size_t bytes);
  size_t bytes() const { return bytes_; }
  size_t peak_bytes() const { return peak_; }

 private:
  std::vector<std::shared_ptr<const Buffer>> blocks_;
  size_t limit_;
  size_t bytes_ = 0, peak_ = 0;
};

}  // namespace tern
