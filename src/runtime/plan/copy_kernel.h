// CopyKernel copies its inputs to given offsets of the output. It implements a Concat of which some inputs
// are already in the output, so that only the others are copied.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernel_api/kernel.h"
#include "kernels/cpu/move/copy.h"

namespace tern {

class CopyKernel : public KernelOf<CopyKernel> {
 public:
  struct Part {
    size_t offset, bytes;
    // For a Concat along the last axis, these are the row lengths of the input and of the output, in
    // elements. They are 0 if the input is contiguous in the output.
    int64_t row = 0, output_row = 0;
  };
  std::vector<Part> parts;
  int width = 0;  // bytes per element; used only if row > 0

  Status Run(RunContext& c) override {
    constexpr int64_t kGrain = 256 << 10;
    for (size_t i = 0; i < parts.size(); ++i) {
      std::byte* to = c.Out<std::byte>(0) + parts[i].offset;
      const std::byte* from = c.In<std::byte>(static_cast<int>(i));
      if (parts[i].row > 0) {
        CopyRows(from, to, parts[i], c.workers());
        continue;
      }
      c.workers().ParallelFor(static_cast<int64_t>(parts[i].bytes), kGrain, [=](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      });
    }
    return {};
  }

 private:
  void CopyRows(const std::byte* from, std::byte* to, const Part& part, const Workers& workers) const {
    cpu::StridedCopy plan;
    plan.Add({static_cast<int64_t>(part.bytes) / (part.row * width), part.row, part.output_row});
    plan.Add({part.row, 1, 1});
    cpu::Copy(plan, from, to, width, workers);
  }
};

}  // namespace tern
