// Converts activations with parameters. The default values are those of ONNX.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

// Returns a converter to Activation. The ONNX attribute `first` becomes Tern's alpha, and the ONNX attribute
// `second` becomes Tern's beta. `alpha` and `beta` are the defaults. `second` is null if the operator has
// only one attribute.
Converter ActivationOf(const char* kind, const char* first, float alpha, const char* second = nullptr,
                       float beta = 0) {
  return [=](OnnxNode& n) -> Status {
    const double a = n.Float(first, alpha), b = second ? n.Float(second, beta) : beta;
    n.Out(0, n.b.Op("Activation", {n.In(0)}, {{"kind", kind}, {"alpha", a}, {"beta", b}}));
    return {};
  };
}

Status Selu(OnnxNode& n) {
  const double alpha = n.Float("alpha", n.opset < 6 ? 1.6732f : 1.67326319217681884765625f);
  const double gamma = n.Float("gamma", n.opset < 6 ? 1.0507f : 1.05070102214813232421875f);
  n.Out(0, n.b.Op("Activation", {n.In(0)}, {{"kind", "selu"}, {"alpha", alpha}, {"beta", gamma}}));
  return {};
}

// y = swish(gate) * value
Status SwiGlu(OnnxNode& n) {
  Value* gate = n.b.Op("Activation", {n.In(0)}, {{"kind", "swish"}, {"alpha", double{n.Float("alpha", 1)}}});
  n.Out(0, n.b.Op("Binary", {gate, n.In(1)}, {{"kind", "mul"}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(activation) {
  table.Add("LeakyRelu", ActivationOf("leaky_relu", "alpha", 0.01f));
  table.Add("Elu", ActivationOf("elu", "alpha", 1));
  table.Add("Celu", ActivationOf("celu", "alpha", 1));
  table.Add("HardSigmoid", ActivationOf("hard_sigmoid", "alpha", 0.2f, "beta", 0.5f));
  table.Add("ThresholdedRelu", ActivationOf("thresholded_relu", "alpha", 1));
  table.Add("Swish", ActivationOf("swish", "alpha", 1));
  table.Add("SwiGLU", SwiGlu);
  table.Add("Shrink", ActivationOf("shrink", "lambd", 0.5f, "bias", 0));
  table.Add("Selu", Selu);
  table.Add("Gelu", Direct("Gelu", {"approximate"}));
}

}  // namespace tern::onnx
