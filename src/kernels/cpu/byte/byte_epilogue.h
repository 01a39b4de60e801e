// What is done with the integer sums of 8-bit products and convolutions, in registers. Results are
// bit-identical at all instruction sets: every float operation is rounded once, in the order given here.
#pragma once
#include "base/dtype.h"
#include "kernels/cpu/quant/integer_simd.h"

namespace tern::cpu {

// kBytes: y = round(v) + to.zero with v = clamp(float(sum + bias) * scale), see ByteRange. Rounds half to
//         even. This is the formula of QConv and QMatMul (ops/quant/integer.h).
// kF32:   y = clip(float(sum + bias) * scale + f32_bias + f32_residual).
// kI32:   y = sum + bias. Scales and residuals are not used.
enum class ByteOutput : uint8_t { kBytes, kF32, kI32 };

// An 8-bit tensor r that is added to a result of 8 bits.
enum class ByteResidual : uint8_t {
  kNone,
  // v = clamp(float(sum + bias) * scale + float(r - residual_zero) * residual_ratio). One rounding to 8 bits.
  kBeforeRounding,
  // The sum is first rounded to an 8-bit number q, as without a residual; ByteEpilogue::inner is the range of
  // q. Then y = round(clamp(a * a_ratio + (b * b_ratio + rest))) with two fused multiply-adds, as in QBinary
  // (add). a is q and b is r, or the reverse if residual_first.
  kAfterRounding,
};

struct ByteEpilogue {
  ByteOutput output = ByteOutput::kBytes;
  // One per column (output channel). The caller adds the contribution of the zero point of x, see
  // CompensatedBias. Null means 0.
  const int32_t* bias = nullptr;
  // One per column: x_scale * w_scale / y_scale for kBytes, x_scale * w_scale for kF32. Numbers must be
  // finite, see FiniteScale.
  const float* scale = nullptr;
  ByteRange to;  // kBytes: the type, zero point and bounds of y

  ByteResidual residual_mode = ByteResidual::kNone;  // kBytes only
  DType residual_type = DType::kU8;                  // u8 or i8
  const void* residual = nullptr;                    // laid out like y
  int64_t residual_row = 0;                          // stride between rows or pixels, in elements
  float residual_zero = 0;                           // kBeforeRounding
  float residual_ratio = 1;                          // kBeforeRounding: residual_scale / y_scale
  ByteRange inner;                                   // kAfterRounding: the type, zero and bounds of q
  float a_ratio = 1, b_ratio = 1, rest = 0;          // kAfterRounding: SumRatios of the QBinary
  bool residual_first = false;                       // kAfterRounding: the residual is operand a

  const float* f32_bias = nullptr;      // kF32: one per column
  const float* f32_residual = nullptr;  // kF32: laid out like y, with stride residual_row
  bool clip = false;                    // kF32: clips to [low, high]; NaN stays NaN
  float low = 0, high = 0;
};

// Weights of 8 bits and their zero point. The kernels multiply by w - zero, which must fit into i8, see
// FitsI8.
struct ByteWeights {
  const void* data = nullptr;
  DType type = DType::kI8;     // i8 or u8
  const void* zero = nullptr;  // of the same type; null means 0
  bool zero_per_column = false;
};

// Longest sum of products of u8 and i8 that fits into 32 bits, with room for a bias of 2^23.
constexpr int64_t kMaxByteDepth = 65536;

// Returns the bias that replaces `bias` so that kernels, which multiply u8 x without regard to its zero
// point, compute sums of (x - x_zero) * w. `weight_sum` is the column's sum of weights (the Pack functions
// store these sums). If x is i8, kernels multiply x + 128.
inline int32_t CompensatedBias(int32_t bias, DType x, int32_t x_zero, int32_t weight_sum) {
  const int64_t zero = int64_t{x_zero} + (x == DType::kI8 ? 128 : 0);
  return static_cast<int32_t>(int64_t{bias} - zero * weight_sum);
}

// Returns a finite scale that gives the same 8-bit results. With NaN every result is the zero point. With an
// infinity every sum except 0 saturates.
float FiniteScale(float scale);

// The range of 8-bit results, as u8. If results are i8, XOR with `flip` converts u8 to i8.
struct ByteSaturation {
  int16_t zero = 0;
  uint8_t low = 0, high = 255, flip = 0;
};
ByteSaturation SaturationOf(const ByteRange& to);

// Returns whether kernels can round results in registers: results are rounded to 8 bits once, and are less
// than 2^31 before they are rounded. `columns` is the number of biases and scales; `depth` is the number of
// products per sum.
bool RoundsInRegisters(const ByteEpilogue& e, int64_t columns, int64_t depth);

// Returns whether w - zero fits into i8 for all weights [rows, columns]. `row` and `column` are strides in
// elements. Zero points per column are those of `columns`.
bool FitsI8(const ByteWeights& w, int64_t row, int64_t column, int64_t rows, int64_t columns);

}  // namespace tern::cpu
