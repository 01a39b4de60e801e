// Evaluates the ops that a quantized op is composed of.
#pragma once
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

Result<Type> InferPart(const OpDef& op, const Attrs& attrs, std::vector<InferInput> inputs);
// Returns the first output. Undefined tensors are absent inputs.
Result<Tensor> EvaluatePart(const OpDef& op, const Attrs& attrs, const std::vector<Tensor>& tensors);

Attrs DequantizeAttrs(int64_t axis, DType to = DType::kF32);
// Clears the activation of Conv and MatMul; attributes of other ops are unchanged.
Attrs WithoutActivation(Attrs attrs);

}  // namespace tern
