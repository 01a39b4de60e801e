// Integer arithmetic of the quantized ops on 8-bit types. Sums of integers are exact. A sum is then scaled in
// float and rounded once. The float operations and their order are those of onnxruntime's kernels, so that
// results are bit-identical.
#pragma once
#include <cmath>

#include "ops/quant/quantized.h"

namespace tern {

// Returns whether the op uses integer arithmetic. QConv, QMatMul, QGlobalPool and QBinary use it if their
// operands and their result have 8 bits. QConv and QMatMul use it also if their result is f32. Otherwise
// quantized ops compute in f32.
bool OnIntegers(const QuantizedForm& form, DType first, DType second, DType result);

// QConv and QMatMul compute y = saturate(round(sum * multiplier + r) + y_zero), where `sum` includes the i32
// bias, and r = (residual - residual_zero) * (residual_scale / y_scale) or 0. If their result is f32, they
// compute y = activation(sum * (a_scale * b_scale) + bias + residual). Every float operation is rounded.
// QBinary (mul) uses the same multiplier, but adds y_zero before it rounds.
inline float ProductMultiplier(float a_scale, float b_scale, float y_scale) {
  return a_scale * b_scale / y_scale;
}
// QGlobalPool computes y like QConv, from the sum of `count` elements.
inline float MeanMultiplier(float x_scale, float y_scale, int64_t count) {
  return x_scale / (y_scale * static_cast<float>(count));
}

// The range of results that the activation and the type allow. The zero point is subtracted from both bounds.
struct IntegerBounds {
  float low, high;
};
IntegerBounds BoundsOf(DType type, int32_t zero, float scale, const BoundsAttrs& activation = {});
BoundsAttrs ActivationOf(const Attrs& attrs);  // `attrs` are those of a QConv or QMatMul

// The range of results in f32 that the activation allows.
struct RealBounds {
  bool clip = false;
  float low = -INFINITY, high = INFINITY;

  // If low > high, returns high. Returns NaN for NaN.
  float operator()(float v) const {
    v = v < low ? low : v;
    return v > high ? high : v;
  }
};
RealBounds RealBoundsOf(const Attrs& attrs);  // `attrs` are those of a QConv or QMatMul

// QBinary (add) computes y = saturate(round(fma(a, ratios.a, fma(b, ratios.b, ratios.rest)))). `rest`
// includes all zero points.
struct SumRatios {
  float a, b, rest;
};
SumRatios RatiosOf(float a_scale, int32_t a_zero, float b_scale, int32_t b_zero, float y_scale,
                   int32_t y_zero);

Status EvaluateIntegers(const QuantizedForm& form, const Attrs& attrs, EvalContext& c);

}  // namespace tern
