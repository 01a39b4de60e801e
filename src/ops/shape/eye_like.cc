// EyeLike: ones on a diagonal.
#include "ops/shape/axes.h"

namespace tern {
namespace {

struct EyeLike {
  DType dtype = DType::kInvalid;
  int64_t k = 0;
  template <class V> void Visit(V& v) {
    v("dtype", dtype, "the output's type; invalid means x's type");
    v("k", k, "which diagonal: y[i, i + k] = 1");
  }
};

Status Infer(const EyeLike& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() != 2) return InvalidModel("x must have rank 2, got ", c.In("x").ToString());
  const DType dtype = op.dtype == DType::kInvalid ? c.TypeOf("x") : op.dtype;
  if (dtype != DType::kInvalid && !IsNumeric(dtype) && dtype != DType::kBool)
    return InvalidModel("cannot create ones of type ", DTypeName(dtype));
  c.Out("y", dtype, x.ranked ? x : Shape({Dim(), Dim()}));
  return {};
}

Status Reference(const EyeLike& op, EvalContext& c) {
  const Dims dims = c.In("x").dims();
  Tensor& y = c.Out("y", dims);
  if (op.k <= -dims[0] || op.k >= dims[1]) return {};
  for (int64_t i = std::max<int64_t>(0, -op.k); i < dims[0] && i + op.k < dims[1]; ++i)
    StoreDouble(y, i * dims[1] + i + op.k, 1);
  return {};
}

}  // namespace

TERN_OP(EyeLike) {
  return OpDef::Of<EyeLike>("a matrix of x's dims with ones on diagonal k, else zeros")
      .In("x", kAnyType)
      .Out("y", kNumbers | kBools)
      .Moves({.amount = Movement::Amount::kAny, .border = Movement::Border::kConstant, .count = 0},
             No{"the elements come from no input"})
      .Batch(No{"a matrix has no items"})
      .Axes(No{"rows and columns differ in meaning"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
