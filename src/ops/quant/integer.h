// Arithmetic of the quantized ops on 8 bits: sums of whole numbers, exact, which are scaled and rounded once.
// The float operations and their order are those of onnxruntime's kernels, so that results agree to the bit.
#pragma once
#include "ops/quant/quantized.h"

namespace tern {

// Whether the op computes so: QConv, QMatMul, QGlobalPool and QBinary where operands and result have 8 bits.
// The others, and 16 bits, compute in real numbers.
bool OnIntegers(const QuantizedForm& form, DType first, DType second, DType result);

// QConv, QMatMul and products: y = saturate(round(sum * (a_scale * b_scale / y_scale)) + zero).
inline float ProductMultiplier(float a_scale, float b_scale, float y_scale) {
  return a_scale * b_scale / y_scale;
}
// QGlobalPool: the same with the sum of `count` elements.
inline float MeanMultiplier(float x_scale, float y_scale, int64_t count) {
  return x_scale / (y_scale * static_cast<float>(count));
}

// The results that an activation and the type allow, as distances from the zero point.
struct IntegerBounds {
  float low, high;
};
IntegerBounds BoundsOf(DType type, int32_t zero, float scale, const BoundsAttrs& activation = {});
BoundsAttrs ActivationOf(const Attrs& attrs);  // of QConv and QMatMul

// Of a sum: round(a * a_ratio + b * b_ratio + rest), the zero points within the rest.
struct SumRatios {
  float a, b, rest;
};
SumRatios RatiosOf(float a_scale, int32_t a_zero, float b_scale, int32_t b_zero, float y_scale,
                   int32_t y_zero);

Status EvaluateIntegers(const QuantizedForm& form, const Attrs& attrs, EvalContext& c);

}  // namespace tern
