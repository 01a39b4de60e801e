// Size: the number of elements.
#include "ops/shape/axes.h"

namespace tern {
namespace {

struct Size : NoAttrs {};

Status Infer(const Size&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  c.Out("size", DType::kI64, Shape(std::vector<Dim>()));
  if (x.ranked) c.OutContent("size", {ProductOf(x.dims, 0, x.rank())});
  return {};
}

Status Reference(const Size&, EvalContext& c) {
  c.OutLongs("size", {}, {c.In("x").size()});
  return {};
}

}  // namespace

TERN_OP(Size) {
  return OpDef::Of<Size>("the number of elements of x")
      .In("x", kAnyType)
      .Out("size", SetOf(DType::kI64))
      .Traits(kPure | kReadsDims)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
