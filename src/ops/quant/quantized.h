// Ops on quantized tensors. Each op is equivalent to Dequantize of its operands, an op on real numbers, and
// Quantize of the result. Real numbers are f32, ties round to even, and the result saturates. QConv, QMatMul,
// QBinary and QGlobalPool on 8-bit types use exact integer arithmetic instead (ops/quant/integer.h). If a
// result is about halfway between two integers, the two methods may round it to different integers.
#pragma once
#include <optional>
#include <string_view>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// A quantized op. Its inputs are, in this order: data, scale and optional zero point of each operand; scale
// and optional zero point of the result. If has_epilogue is true, these optional inputs follow: the bias; the
// residual, its scale and its zero point; an inner scale and an inner zero point. The scale of the result is
// then optional too. Without this scale, the result is f32, the bias is f32 or i32, and the residual is f32
// and has no scale. With this scale, the bias is i32 and the residual is quantized. The unit of an i32 bias
// is the product of the operands' scales. With inner scale and zero point, the op is equivalent to two ops:
// the op without the residual, whose result has the inner scale and zero point, and QBinary (add) of that
// result and the residual. This needs 8-bit tensors, a residual and a scale of the result.
struct QuantizedForm {
  const char* name;
  const char* real;  // the op on real numbers; it has the same attributes, except residual_first
  int operands;
  bool has_epilogue;

  int result() const { return 3 * operands; }  // input index of the result's scale
  int bias() const { return 3 * operands + 2; }
  int residual() const { return 3 * operands + 3; }
  int inner() const { return 3 * operands + 6; }
};
const QuantizedForm* QuantizedFormOf(std::string_view op);  // null if `op` is not a quantized op

constexpr DTypeSet kQuantized =
    SetOf(DType::kI8) | SetOf(DType::kU8) | SetOf(DType::kI16) | SetOf(DType::kU16);
constexpr DTypeSet kScale = SetOf(DType::kF32);

// The activations that are equivalent to clamping the quantized result.
struct BoundsAttrs {
  enum class Kind : uint8_t { kNone, kRelu, kClip };
  Kind activation = Kind::kNone;
  float act_alpha = 1, act_beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("activation", activation, {"none", "relu", "clip"}, "the function applied to the sums");
    v("act_alpha", act_alpha, "clip: the lower bound");
    v("act_beta", act_beta, "clip: the upper bound");
  }
};

struct ResidualAttrs {
  bool residual_first = false;
  template <class V> void Visit(V& v) {
    v("residual_first", residual_first,
      "with inner_scale: the residual is the first operand of the sum, which affects rounding");
  }
};

// Returns the attributes that the op on real numbers has too.
Attrs RealAttrs(const QuantizedForm& form, const Attrs& attrs);
// Returns the axis of an operand along which its scales may vary, or nullopt if the operand must have one
// scale.
std::optional<int64_t> ScaleAxis(const QuantizedForm& form, const Attrs& attrs, int operand);
// Returns true for a scalar and for a vector with one element.
bool IsSingle(const Shape& shape);

Status InferQuantized(const QuantizedForm& form, const Attrs& attrs, InferContext& c);
Status EvaluateQuantized(const QuantizedForm& form, const Attrs& attrs, EvalContext& c);

// InferQuantized and EvaluateQuantized for the struct T of an op, for use in TERN_OP.
template <class T> Status InferQuantizedOp(const T& op, InferContext& c) {
  return InferQuantized(*QuantizedFormOf(c.op().name), Attrs::Of(op), c);
}
template <class T> Status EvaluateQuantizedOp(const T& op, EvalContext& c) {
  return EvaluateQuantized(*QuantizedFormOf(c.op().name), Attrs::Of(op), c);
}

// For OpDef::flops. Counts 2 FLOPs per element of each operand that is not constant, and 3 per element of the
// result. A bias and an activation each add 1 FLOP per element of the result, a residual adds 3. `real`
// counts the FLOPs of the op on real numbers, except its MACs, and is added. If `real` is empty, nothing is
// added.
std::function<CountRule> QuantizedFlops(std::function<CountRule> real);

// Declares an op with one operand. `real` is as in QuantizedFlops.
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
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(std::move(axes))
      .Infer(InferQuantizedOp<T>)
      .Reference(EvaluateQuantizedOp<T>);
}

}  // namespace tern
