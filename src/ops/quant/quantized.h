// Ops on quantized tensors. Each gives what Dequantize of its operands, an op on real numbers and Quantize of
// the result would give: the real numbers are f32, rounding is half to even, the result saturates. Sums,
// products and means of 8 bits are made of whole numbers instead (ops/quant/integer.h), exact up to the last
// step: where a result is about half way between two numbers that may be the other one.
#pragma once
#include <optional>
#include <string_view>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// Inputs: data, scale and zero point? of each operand; scale and zero point? of the result; bias?.
struct QuantizedForm {
  const char* name;
  const char* real;  // the op on real numbers, which has the same attributes
  int operands;
  bool has_bias;  // i32, in units of the product of the operands' scales

  int result() const { return 3 * operands; }  // where the result's scale is
  int bias() const { return 3 * operands + 2; }
};
const QuantizedForm* QuantizedFormOf(std::string_view op);  // null: none of these

constexpr DTypeSet kQuantized =
    SetOf(DType::kI8) | SetOf(DType::kU8) | SetOf(DType::kI16) | SetOf(DType::kU16);
constexpr DTypeSet kScale = SetOf(DType::kF32);

// The activations whose results can be had by clamping in the quantized range.
struct BoundsAttrs {
  enum class Kind : uint8_t { kNone, kRelu, kClip };
  Kind activation = Kind::kNone;
  float act_alpha = 1, act_beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("activation", activation, {"none", "relu", "clip"}, "function of the sums");
    v("act_alpha", act_alpha, "clip: the lower bound");
    v("act_beta", act_beta, "clip: the upper bound");
  }
};

Attrs RealAttrs(const QuantizedForm& form, const Attrs& attrs);
// The axis of an operand along which its scales may differ; nothing: it has one scale.
std::optional<int64_t> ScaleAxis(const QuantizedForm& form, const Attrs& attrs, int operand);
// A scalar, or a vector with one element.
bool IsSingle(const Shape& shape);

Status InferQuantized(const QuantizedForm& form, const Attrs& attrs, InferContext& c);
Status EvaluateQuantized(const QuantizedForm& form, const Attrs& attrs, EvalContext& c);

// For TERN_OP: the two as functions of the op's own struct.
template <class T> Status InferQuantizedOp(const T& op, InferContext& c) {
  return InferQuantized(*QuantizedFormOf(c.op().name), Attrs::Of(op), c);
}
template <class T> Status EvaluateQuantizedOp(const T& op, EvalContext& c) {
  return EvaluateQuantized(*QuantizedFormOf(c.op().name), Attrs::Of(op), c);
}

// For OpDef::flops: two for each element that is dequantized in the run, three for each that is quantized,
// and those of the op on real numbers beside its products; {}: none.
std::function<CountRule> QuantizedFlops(std::function<CountRule> real);

// An op with one operand. `real`: FLOPs of the op on real numbers.
template <class T>
OpDef QuantizedFunction(const char* summary, std::function<CountRule> real, Answer<AxisRule> axes) {
  return typename OpDef::Builder<T>(summary)
      .In("x", kQuantized)
      .In("x_scale", kScale)
      .OptIn("x_zero_point", kQuantized)
      .In("y_scale", kScale)
      .OptIn("y_zero_point", kQuantized)
      .Out("y", kQuantized)
      .Flops(QuantizedFlops(std::move(real)))
      .Batch(No{"pieces of quantized batches are not measured"})
      .Axes(std::move(axes))
      .Infer(InferQuantizedOp<T>)
      .Reference(EvaluateQuantizedOp<T>);
}

}  // namespace tern
