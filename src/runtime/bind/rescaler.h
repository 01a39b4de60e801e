// Converts sums of integers to the results of QConv and QMatMul.
#pragma once
#include "kernels/cpu/quant/integer.h"
#include "ops/quant/integer.h"
#include "runtime/bind/support.h"

namespace tern {

// Exact sums, one per element of the result. One of the pointers is null.
struct IntegerSums {
  const float* f32 = nullptr;  // integers up to 2^24
  const int32_t* i32 = nullptr;

  double operator[](int64_t i) const { return f32 ? static_cast<double>(f32[i]) : i32[i]; }
};

// Adds bias and residual, scales, applies the activation, and rounds if the result has 8 bits. The formulas
// are those of ops/quant/integer.h.
class Rescaler {
 public:
  // A residual must have the dims of the result.
  static bool Fits(const QuantizedForm& form, const KernelQuery& q);
  // Reserves scratch memory for one multiplier and one bias per channel, at offset `bytes`. Returns the
  // offset behind this memory.
  size_t Resize(const QuantizedForm& form, const KernelQuery& q, size_t bytes);
  void Run(const QuantizedForm& form, const RunContext& c, const IntegerSums& sums) const;

 private:
  // The parameters of one run.
  struct Args {
    IntegerSums sums;
    const float* multipliers;
    const int32_t* bias;

    // Returns the sum with its bias, rounded once, times the multiplier.
    float Scaled(int64_t element, int64_t channel) const {
      return static_cast<float>(sums[element] + bias[channel]) * multipliers[channel];
    }
  };
  cpu::ByteRange RangeOf(const QuantizedForm& form, const RunContext& c) const;
  void Round(const QuantizedForm& form, const RunContext& c, const Args& a) const;
  void AddResidual(const QuantizedForm& form, const RunContext& c, const Args& a) const;
  void AddAfterRounding(const QuantizedForm& form, const RunContext& c, const Args& a) const;
  void ToReal(const QuantizedForm& form, const RunContext& c, const Args& a) const;
  // Calls f(element, channel) for all elements of the result, on all threads.
  template <class F> void Each(const RunContext& c, const F& f) const;

  cpu::ChannelShape shape_;
  BoundsAttrs activation_;
  RealBounds real_bounds_;
  bool residual_first_ = false;
  size_t at_ = 0;
};

}  // namespace tern
