// QUnary, QActivation and Requantize: apply functions to quantized numbers. For 8-bit types, the kernels of
// QUnary and QActivation use a table of 256 results.
#include "ir/axis_map.h"
#include "ir/op_cost.h"
#include "ops/elementwise/activation_kind.h"
#include "ops/elementwise/unary_kind.h"
#include "ops/quant/quantized.h"

namespace tern {
namespace {

const std::vector<const char*>& RealNames() {
  static const auto* names = new std::vector<const char*>(
      UnaryNames().begin(), UnaryNames().begin() + static_cast<int>(UnaryKind::kMish) + 1);
  return *names;
}

struct QUnary {
  UnaryKind kind = UnaryKind::kAbs;
  template <class V> void Visit(V& v) { v.Enum("kind", kind, RealNames(), "the function"); }
};

struct Requantize {
  template <class V> void Visit(V&) {}
};

struct QActivation {
  ActivationKind kind = ActivationKind::kLeakyRelu;
  float alpha = 1, beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, ActivationNames(), "the function");
    v("alpha", alpha, "the first parameter of the function, as in Activation");
    v("beta", beta, "the second parameter of the function, as in Activation");
  }
};

}  // namespace

TERN_OP(QUnary) {
  return QuantizedFunction<QUnary>("y = quantize(f(dequantize(x))), for the functions of Unary on floats",
                                   PerOutput(1), FirstOperandAxes);
}

TERN_OP(QActivation) {
  return QuantizedFunction<QActivation>("y = quantize(f(dequantize(x); alpha, beta)), as in Activation",
                                        PerOutput(1), FirstOperandAxes);
}

TERN_OP(Requantize) {
  return QuantizedFunction<Requantize>("y = quantize(dequantize(x)): changes scale, zero point or type", {},
                                       FirstOperandAxes);
}

}  // namespace tern
