// Pooling over [N, spatial…, C] in f32, up to three spatial axes.
#pragma once
#include "kernels/cpu/pool/pool.h"

namespace tern::cpu {

class NhwcPool {
 public:
  enum class Kind : uint8_t { kMax, kAverage };

  NhwcPool() = default;
  // shape.batch counts the images. divisors: for averages.
  NhwcPool(Kind kind, const ConvShape& shape, PoolDivisors divisors);
  size_t Scratch(int threads) const;  // bytes
  // apart: elements from one pixel of y to the next where other values lie between them; 0: none do.
  void Run(const float* x, float* y, void* scratch, const Workers& workers, int64_t apart = 0) const;

 private:
  // Scratch memory of a worker.
  struct Place {
    const float** pixels;
    float* line;  // the input rows of an output row, joined; null: windows are joined as they are
  };
  void Join(const float* const* x, int64_t count, int64_t channels, float divisor, float* y) const;
  void RunLine(const float* x, int64_t index, const Place& place, float* y, int64_t pixel) const;
  int64_t Rows(const float* x, int64_t index, const float** rows) const;
  int64_t PointerFloats() const;
  int64_t LineFloats() const;

  Kind kind_ = Kind::kMax;
  ConvShape shape_;
  PoolDivisors divisors_;
  bool by_lines_ = false;
};

}  // namespace tern::cpu
