// Puts its inputs into given places of the output: what is left of a Concat.
#pragma once
#include <algorithm>
#include <cstring>

#include "runtime/kernel.h"

namespace tern {

class CopyKernel : public KernelOf<CopyKernel> {
 public:
  struct Part {
    size_t offset, bytes;
  };
  std::vector<Part> parts;

  Status Run(RunContext& c) override {
    constexpr int64_t kGrain = 256 << 10;
    for (size_t i = 0; i < parts.size(); ++i) {
      std::byte* to = c.Out<std::byte>(0) + parts[i].offset;
      const std::byte* from = c.In<std::byte>(static_cast<int>(i));
      c.workers().ParallelFor(static_cast<int64_t>(parts[i].bytes), kGrain, [=](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      });
    }
    return {};
  }
};

}  // namespace tern
