// What the quantized ops are made of: other ops, inferred and evaluated by themselves.
#pragma once
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

Result<Type> InferPart(const OpDef& op, const Attrs& attrs, std::vector<InferInput> inputs);
// Undefined tensors are absent inputs.
Result<Tensor> EvaluatePart(const OpDef& op, const Attrs& attrs, const std::vector<Tensor>& tensors);

Attrs DequantizeAttrs(int64_t axis, DType to = DType::kF32);
// Of Conv and MatMul; those of other ops as they are.
Attrs WithoutActivation(Attrs attrs);

}  // namespace tern
