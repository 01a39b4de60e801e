// Fill: a tensor with all elements equal.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Fill {
  Tensor value = Tensor::Scalar(DType::kF32, 0);
  template <class V> void Visit(V& v) { v("value", value, "one element; determines the output's type"); }
};

Status CheckDims(const Content& dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].known() && dims[i].value() < 0)
      return InvalidModel("shape[", i, "] is ", dims[i].value(), ", but must not be negative");
  return {};
}

Status Infer(const Fill& op, InferContext& c) {
  TERN_TRY(RequireVector(c, "shape"));
  if (!op.value.defined() || op.value.size() != 1)
    return InvalidModel("value must have one element, got ", op.value.Describe());
  Shape y;
  if (auto content = c.ContentOf("shape")) {
    TERN_TRY(CheckDims(*content));
    y = Shape(*content);
  } else if (const int n = KnownLength(c.ShapeOf("shape")); n >= 0) {
    y = Shape(std::vector<Dim>(static_cast<size_t>(n)));
  }
  const bool small = y.rank() == 0 || (y.rank() == 1 && y[0].known() && y[0].value() <= 1024);
  if (small && IsInt(op.value.dtype()))
    c.OutContent("y", Content(static_cast<size_t>(y.rank() ? y[0].value() : 1), LoadLong(op.value, 0)));
  c.Out("y", op.value.dtype(), std::move(y));
  return {};
}

Status Reference(const Fill& op, EvalContext& c) {
  FillElements(op.value, 0, c.Out("y", c.Longs("shape")));
  return {};
}

}  // namespace

TERN_OP(Fill) {
  return OpDef::Of<Fill>("a tensor of the given dims with all elements set to value")
      .Setting("shape", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kAny, .border = Movement::Border::kConstant, .count = 0},
             No{"the elements come from no input"})
      .Batch(No{"no input has items"})
      .Axes(No{"no operand has axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
