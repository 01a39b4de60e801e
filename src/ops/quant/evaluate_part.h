// Evaluates the ops that a quantized op is composed of.
#pragma once
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// InferPart returns the type of the first output, EvaluatePart its value. An undefined tensor is an absent
// input.
Result<Type> InferPart(const OpDef& op, const Attrs& attrs, std::vector<InferInput> inputs);
Result<Tensor> EvaluatePart(const OpDef& op, const Attrs& attrs, const std::vector<Tensor>& tensors);

Attrs DequantizeAttrs(int64_t axis, DType to = DType::kF32);
// If the attributes have an activation, sets it to "none".
Attrs WithoutActivation(Attrs attrs);

}  // namespace tern
