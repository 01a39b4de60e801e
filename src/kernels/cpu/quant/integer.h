// Requantization to 8 bits, and sums, products and means of 8-bit tensors.
#pragma once
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/quant/integer_simd.h"

namespace tern::cpu {

// RescaleChannels computes y = round((sums + bias) * multiplier) + to.zero, saturated. sums is [outer,
// channels, inner]; bias and multipliers have one element per channel.
struct ChannelShape {
  int64_t outer = 1, channels = 1, inner = 1;
};
void RescaleChannels(const ChannelShape& s, const ByteRange& to, const float* sums, const int32_t* bias,
                     const float* multipliers, void* y, const Workers& workers);

struct ByteOperand {
  DType type = DType::kU8;
  const void* data = nullptr;
  float zero = 0;
  float ratio = 1;  // only for ByteSum: the operand's scale divided by the result's scale
};
// y = round(a * a.ratio + b * b.ratio + offset), saturated. `offset` is the contribution of the zero points.
void ByteSum(const Broadcast<2>& plan, const ByteOperand& a, const ByteOperand& b, float offset,
             const ByteRange& to, void* y, const Workers& workers);
// y = round((a - a.zero) * (b - b.zero) * multiplier + to.zero), saturated.
void ByteProduct(const Broadcast<2>& plan, const ByteOperand& a, const ByteOperand& b, float multiplier,
                 const ByteRange& to, void* y, const Workers& workers);

// For each row of x [rows, n]: y = round(multiplier * sum of (x - zero)) + to.zero.
void ByteMeans(const ByteOperand& x, int64_t rows, int64_t n, float multiplier, const ByteRange& to, void* y,
               const Workers& workers);

}  // namespace tern::cpu
