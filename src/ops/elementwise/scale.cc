// Scale: y = x * scale + bias, with vectors scale and bias along an axis.
#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct Scale {
  int64_t axis = 1;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis of x that scale and bias apply to; a negative axis counts from the end");
  }
};

Status Infer(const Scale& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  Dim length;
  if (x.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    length = x[axis];
  }
  for (const char* port : {"scale", "bias"}) {
    TERN_TRY(CheckVector(c, port, length));
    if (c.Has(port) && c.TypeOf(port) != c.TypeOf("x") && c.TypeOf(port) != DType::kInvalid &&
        c.TypeOf("x") != DType::kInvalid)
      return InvalidModel("inputs differ in type: x ", c.In("x").ToString(), ", ", port, " ",
                          c.In(port).ToString());
  }
  c.Out("y", c.In("x"));
  return {};
}

Status Reference(const Scale& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  const auto scale = c.Doubles("scale");
  const auto bias = c.Has("bias") ? c.Doubles("bias") : std::vector<double>(scale.size(), 0.0);
  if (static_cast<int64_t>(scale.size()) != x.dim(axis) || bias.size() != scale.size())
    return InvalidArgument("scale has ", scale.size(), " elements and bias has ", bias.size(), " for ",
                           x.Describe(), " along axis ", axis);
  const auto inner = static_cast<size_t>(CountOf(Dims(x.dims().begin() + axis + 1, x.dims().end())));
  auto y = ToDoubles(x);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t k = i / inner % scale.size();
    y[i] = y[i] * scale[k] + bias[k];
  }
  c.Out("y", x.dims(), y);
  return {};
}

}  // namespace

TERN_OP(Scale) {
  return OpDef::Of<Scale>("y = x * scale + bias, where scale and bias are vectors along an axis of x")
      .In("x", kRealFloats)
      .In("scale", kRealFloats)
      .OptIn("bias", kRealFloats)
      .Out("y", kRealFloats)
      .Traits(kPure | kInPlace)
      .Flops(PerOutput(2))
      .Batch(&BatchItems::AlongOtherAxis)
      .Axes(FirstOperandLayout, RenameAxisAttr)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
