#include "ops/quant/evaluate_part.h"

namespace tern {

Result<Type> InferPart(const OpDef& op, const Attrs& attrs, std::vector<InferInput> inputs) {
  InferContext part(op, std::move(inputs), 1);
  TERN_TRY(RunInfer(op, attrs, part));
  return part.outputs()[0].type;
}

Result<Tensor> EvaluatePart(const OpDef& op, const Attrs& attrs, const std::vector<Tensor>& tensors) {
  DatumList data;
  std::vector<InferInput> infer;
  for (const Tensor& t : tensors) {
    data.push_back(t.defined() ? Datum(t) : Datum());
    infer.push_back(t.defined() ? InferInput{true, TypeOf(data.back()), t, {}} : InferInput{});
  }
  std::vector<const Datum*> inputs;
  for (size_t i = 0; i < data.size(); ++i) inputs.push_back(tensors[i].defined() ? &data[i] : nullptr);
  TERN_ASSIGN(const Type type, InferPart(op, attrs, std::move(infer)));
  EvalContext part(op, inputs, {type});
  TERN_TRY(op.reference(attrs, part));
  return part.outputs()[0].tensor;
}

Attrs DequantizeAttrs(int64_t axis, DType to) {
  Attrs attrs = FindOp("Dequantize")->defaults;
  TERN_CHECK(attrs.Set("axis", axis).ok() && attrs.Set("to", to).ok());
  return attrs;
}

Attrs WithoutActivation(Attrs attrs) {
  if (attrs.Has("activation")) TERN_CHECK(attrs.Set("activation", std::string("none")).ok());
  return attrs;
}

}  // namespace tern
