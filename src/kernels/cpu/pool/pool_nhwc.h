// Pooling over [N, spatial…, C] in f32, up to three spatial axes.
#pragma once
#include "kernels/cpu/pool/pool.h"

namespace tern::cpu {

class NhwcPool {
 public:
  enum class Kind : uint8_t { kMax, kAverage };

  NhwcPool() = default;
  // shape.batch is the number of images. `divisors` are used by averages only.
  NhwcPool(Kind kind, const ConvShape& shape, PoolDivisors divisors);
  size_t Scratch(int threads) const;  // in bytes
  // pixel_stride is the stride between pixels of y, in elements. 0 means contiguous.
  void Run(const float* x, float* y, void* scratch, const Workers& workers, int64_t pixel_stride = 0) const;

 private:
  // Scratch memory of a worker.
  struct WorkerScratch {
    const float** pixels;
    float* line;  // the maximum or sum of the input rows of an output row; null if by_lines_ is false
  };
  void Join(const float* const* x, int64_t count, int64_t channels, float divisor, float* y) const;
  void RunLine(const float* x, int64_t index, const WorkerScratch& scratch, float* y, int64_t pixel) const;
  int64_t Rows(const float* x, int64_t index, const float** rows) const;
  int64_t PointerFloats() const;
  int64_t LineFloats() const;

  Kind kind_ = Kind::kMax;
  ConvShape shape_;
  PoolDivisors divisors_;
  bool by_lines_ = false;  // the input rows of an output row are combined first
};

}  // namespace tern::cpu
