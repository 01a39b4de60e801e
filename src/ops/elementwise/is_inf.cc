// IsInf: tells which elements are infinite.
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct IsInf {
  bool negative = true, positive = true;
  template <class V> void Visit(V& v) {
    v("negative", negative, "-inf counts as infinite");
    v("positive", positive, "+inf counts as infinite");
  }
};

Status Infer(const IsInf&, InferContext& c) {
  c.Out("y", DType::kBool, c.ShapeOf("x"));
  return {};
}

Status Reference(const IsInf& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    const double v = LoadDouble(x, i);
    y.data<uint8_t>()[i] = std::isinf(v) && (v > 0 ? op.positive : op.negative);
  }
  return {};
}

}  // namespace

TERN_OP(IsInf) {
  return OpDef::Of<IsInf>("y = whether x is infinite, for the signs that the attributes select")
      .In("x", kFloats)
      .Out("y", kBools)
      .Traits(kPure | kElementwise)
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
