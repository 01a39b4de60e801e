// Gelu: y = x * P(X <= x) for a standard normal X, exactly or by the tanh formula.
#include <cmath>
#include <numbers>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/elementwise/activation_kind.h"

namespace tern {
namespace {

enum class Approximate { kNone, kTanh };

struct Gelu {
  Approximate approximate = Approximate::kNone;
  template <class V> void Visit(V& v) { v.Enum("approximate", approximate, {"none", "tanh"}, "the formula"); }
};

Status Infer(const Gelu&, InferContext& c) {
  c.Out("y", c.In("x"));
  return {};
}

Status Reference(const Gelu& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  for (int64_t i = 0; i < x.size(); ++i)
    StoreDouble(y, i, GeluValue(op.approximate == Approximate::kTanh, LoadDouble(x, i)));
  return {};
}

}  // namespace

double GeluValue(bool by_tanh, double x) {
  if (!by_tanh) return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

TERN_OP(Gelu) {
  return OpDef::Of<Gelu>("y = x * (1 + erf(x / sqrt(2))) / 2")
      .In("x", kFloats)
      .Out("y", kFloats)
      .Traits(kPure | kElementwise | kInPlace)
      .Flops(PerOutput(kGeluFlops))
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
