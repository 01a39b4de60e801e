// GroupNorm of [batch, pixels, channels].
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

struct GroupNormLast {
  int64_t batch = 0, pixels = 0, channels = 0, groups = 1;
  float epsilon = 0;

  size_t Scratch() const;  // in bytes
  // Normalizes each group of channels of a sample to zero mean and unit variance. Then applies scale and bias
  // per channel. The result is bit-identical for any number of threads.
  void Run(const float* x, const float* scale, const float* bias, float* y, void* scratch,
           const Workers& workers) const;
};

}  // namespace tern::cpu
