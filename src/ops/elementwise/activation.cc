// Activation: y = f(x; alpha, beta), for functions with one or two parameters.
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/elementwise/activation_kind.h"

namespace tern {
namespace {

struct Activation {
  ActivationKind kind = ActivationKind::kLeakyRelu;
  float alpha = 1, beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, ActivationNames(), "the function");
    v("alpha", alpha, "the alpha of ONNX; shrink: lambd; affine: the factor of x");
    v("beta", beta, "hard_sigmoid: the beta of ONNX; selu: gamma; shrink: bias; affine: the constant term");
  }
};

Status Infer(const Activation& op, InferContext& c) {
  const DType t = c.TypeOf("x");
  if (t != DType::kInvalid && !IsFloat(t) && op.kind != ActivationKind::kShrink)
    return InvalidModel("input 'x' must be float, got ", c.In("x").ToString());
  c.Out("y", t, c.ShapeOf("x"));
  return {};
}

Status Reference(const Activation& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  for (int64_t i = 0; i < x.size(); ++i)
    StoreDouble(y, i, ActivationValue(op.kind, op.alpha, op.beta, LoadDouble(x, i)));
  return {};
}

}  // namespace

const std::vector<const char*>& ActivationNames() {
  static const auto* names =
      new std::vector<const char*>(std::begin(kActivationNames), std::end(kActivationNames));
  return *names;
}

double ActivationValue(ActivationKind kind, double alpha, double beta, double x) {
  const double a = alpha, b = beta;
  switch (kind) {
    case ActivationKind::kLeakyRelu:
      return x < 0 ? a * x : x;
    case ActivationKind::kElu:
      return x < 0 ? a * std::expm1(x) : x;
    case ActivationKind::kSelu:
      return b * (x > 0 ? x : a * std::expm1(x));
    case ActivationKind::kCelu:
      return x < 0 ? a * std::expm1(x / a) : x;
    case ActivationKind::kHardSigmoid: {
      const double y = a * x + b;
      return y < 0 ? 0 : y > 1 ? 1 : y;
    }
    case ActivationKind::kThresholdedRelu:
      return x > a ? x : 0;
    case ActivationKind::kSwish:
      return x / (1 + std::exp(-a * x));
    case ActivationKind::kAffine:
      return a * x + b;
    default:
      return x < -a ? x + b : x > a ? x - b : 0;  // shrink
  }
}

TERN_OP(Activation) {
  return OpDef::Of<Activation>("y = kind(x; alpha, beta)")
      .In("x", kNumbers)
      .Out("y", kNumbers)
      .Traits(kPure | kElementwise | kInPlace)
      .Flops(PerOutput(kActivationFlops))
      .KindsAreNames()
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
