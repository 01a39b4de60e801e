// Converts activations and other functions of single elements.
#include <cmath>

#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

Converter Simple(const char* kind) {
  return [=](Layer& n) -> Status {
    n.Out(0, Unary(n, kind, n.In(0)));
    return {};
  };
}

Value* Activation(Layer& n, const char* kind, double alpha, double beta = 0) {
  return n.b.Op("Activation", {n.In(0)}, {{"kind", kind}, {"alpha", alpha}, {"beta", beta}});
}

Value* Clipped(Layer& n, Value* x, double low, double high) {
  return n.b.Op("Clip", {x, Number(n, low), Number(n, high)});
}

Status Relu(Layer& n) {
  const double slope = n.proto.relu_param().negative_slope();
  n.Out(0, slope == 0 ? Unary(n, "relu", n.In(0)) : Activation(n, "leaky_relu", slope));
  return {};
}

// One slope for each channel, or one for all.
Status PRelu(Layer& n) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.size() < 2) return n.Bad("the bottom must have at least 2 axes");
  Dims slope(dims.size() - 1, 1);
  if (!n.proto.prelu_param().channel_shared()) slope[0] = dims[1];
  TERN_ASSIGN(Value* const weights, n.BlobValue(0, slope));
  n.Out(0, Binary(n, "prelu", n.In(0), weights));
  return {};
}

Status Elu(Layer& n) {
  n.Out(0, Activation(n, "elu", n.proto.elu_param().alpha()));
  return {};
}

Status Swish(Layer& n) {
  n.Out(0, Activation(n, "swish", n.proto.swish_param().beta()));
  return {};
}

Status Clip(Layer& n) {
  const auto& p = n.proto.clip_param();
  if (!p.has_min() || !p.has_max()) return n.Bad("clip_param needs min and max");
  n.Out(0, Clipped(n, n.In(0), p.min(), p.max()));
  return {};
}

// (shift + scale * x) ^ power
Status Power(Layer& n) {
  const auto& p = n.proto.power_param();
  Value* y = Affine(n, n.In(0), p.scale(), p.shift());
  if (p.power() != 1) y = Binary(n, "pow", y, Number(n, p.power()));
  n.Out(0, y == n.In(0) ? Copied(n, y) : y);
  return {};
}

// base ^ (shift + scale * x); base -1 means e
Status Exp(Layer& n) {
  const auto& p = n.proto.exp_param();
  if (p.base() != -1 && !(p.base() > 0)) return n.Bad("base is ", p.base(), ", but must be positive or -1");
  const double log_base = p.base() == -1 ? 1 : std::log(static_cast<double>(p.base()));
  n.Out(0, Unary(n, "exp", Affine(n, n.In(0), log_base * p.scale(), log_base * p.shift())));
  return {};
}

// log of (shift + scale * x) to a base; base -1 means e
Status Log(Layer& n) {
  const auto& p = n.proto.log_param();
  if (p.base() != -1 && (!(p.base() > 0) || p.base() == 1))
    return n.Bad("base is ", p.base(), ", but must be positive and not 1, or -1");
  const double log_base = p.base() == -1 ? 1 : std::log(static_cast<double>(p.base()));
  Value* y = Unary(n, "log", Affine(n, n.In(0), p.scale(), p.shift()));
  n.Out(0, Affine(n, y, 1 / log_base, 0));
  return {};
}

Status Threshold(Layer& n) {
  Value* above = Binary(n, "greater", n.In(0), Number(n, n.proto.threshold_param().threshold()));
  n.Out(0, CastTo(n, above, DType::kF32));
  return {};
}

Status Relu6(Layer& n) {
  n.Out(0, Clipped(n, n.In(0), 0, 6));
  return {};
}

// relu(x) and relu(-x), concatenated
Status CRelu(Layer& n) {
  TERN_ASSIGN(const int axis, n.Axis(0, n.proto.crelu_param().axis()));
  Value* both = n.b.Op("Concat", {n.In(0), Unary(n, "neg", n.In(0))}, {{"axis", axis}});
  n.Out(0, Unary(n, "relu", both));
  return {};
}

Status HardSigmoid(Layer& n) {
  const auto& p = n.proto.hard_sigmoid_param();
  n.Out(0, Activation(n, "hard_sigmoid", p.alpha(), p.beta()));
  return {};
}

// Without scale_train, the test phase multiplies by the probability that an element is kept.
Status Dropout(Layer& n) {
  const auto& p = n.proto.dropout_param();
  n.Out(0, p.scale_train() ? Copied(n, n.In(0)) : Affine(n, n.In(0), 1.0 - p.dropout_ratio(), 0));
  return {};
}

}  // namespace

TERN_CONVERTERS(activation) {
  table.Add("AbsVal", Simple("abs"));
  table.Add("BNLL", Simple("softplus"));
  table.Add("Clip", Clip);
  table.Add("CReLU", CRelu);
  table.Add("Dropout", Dropout);
  table.Add("ELU", Elu);
  table.Add("Exp", Exp);
  table.Add("HardSigmoid", HardSigmoid);
  for (const char* name : {"HardSwish", "HSwish", "Hswish"}) table.Add(name, Simple("hard_swish"));
  table.Add("Log", Log);
  table.Add("Mish", Simple("mish"));
  table.Add("Power", Power);
  table.Add("PReLU", PRelu);
  table.Add("ReLU", Relu);
  table.Add("ReLU6", Relu6);
  table.Add("Sigmoid", Simple("sigmoid"));
  table.Add("Swish", Swish);
  table.Add("TanH", Simple("tanh"));
  table.Add("Threshold", Threshold);
}

}  // namespace tern::caffe
