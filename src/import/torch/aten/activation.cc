// Activations.
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

Converter Simple(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    n.Out(Emit(n.b).Unary(kind, InFloat(n, "self")));
    return {};
  };
}

Value* Activation(AtenNode& n, const char* kind, Value* x, double alpha = 1, double beta = 0) {
  return n.b.Op("Activation", {x}, {{"kind", kind}, {"alpha", alpha}, {"beta", beta}});
}

Status Gelu(AtenNode& n) {
  const std::string mode = n.Text("approximate", "none");
  if (mode != "none" && mode != "tanh") return n.Bad("approximate '", mode, "'");
  n.Out(n.b.Op("Gelu", {n.In("self")}, {{"approximate", mode}}));
  return {};
}

Status Silu(AtenNode& n) {
  n.Out(Activation(n, "swish", n.In("self")));
  return {};
}

Status LeakyRelu(AtenNode& n) {
  n.Out(Activation(n, "leaky_relu", n.In("self"), n.Float("negative_slope")));
  return {};
}

Status Rrelu(AtenNode& n) {
  if (n.Bool("training")) return n.NotYet("training mode");
  n.Out(Activation(n, "leaky_relu", n.In("self"), (n.Float("lower") + n.Float("upper")) / 2));
  return {};
}

// scale * (x > 0 ? x : alpha * (exp(input_scale * x) - 1))
Status Elu(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const double scale = n.Float("scale", 1), input_scale = n.Float("input_scale", 1),
               alpha = n.Float("alpha", 1);
  if (input_scale != 1 && input_scale == 1 / alpha && scale == 1) {
    n.Out(Activation(n, "celu", x, alpha));
    return {};
  }
  Value* y = nullptr;
  if (input_scale == 1) {
    y = scale == 1 ? Activation(n, "elu", x, alpha) : e.Mul(Activation(n, "elu", x, alpha), e.Like(x, scale));
  } else {
    Value* low =
        e.Mul(e.Like(x, alpha), e.Sub(e.Unary("exp", e.Mul(x, e.Like(x, input_scale))), e.Like(x, 1)));
    y = e.Mul(e.Where(e.Binary("greater", x, e.Like(x, 0)), x, low), e.Like(x, scale));
  }
  n.Out(y);
  return {};
}

Status Selu(AtenNode& n) {
  n.Out(Activation(n, "selu", n.In("self"), 1.6732632423543772, 1.0507009873554805));
  return {};
}

Status Celu(AtenNode& n) {
  n.Out(Activation(n, "celu", n.In("self"), n.Float("alpha", 1)));
  return {};
}

Status HardSigmoid(AtenNode& n) {
  n.Out(Activation(n, "hard_sigmoid", n.In("self"), 1.0 / 6, 0.5));
  return {};
}

Status Shrink(AtenNode& n, bool soft) {
  const double lambd = n.Float("lambd", 0.5);
  n.Out(Activation(n, "shrink", n.In("self"), lambd, soft ? lambd : 0));
  return {};
}

// PyTorch returns x where beta * x exceeds the threshold. From about 15 on, softplus(x) rounds to x in f32,
// so only smaller thresholds need a Where.
Status Softplus(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const double beta = n.Float("beta", 1), threshold = n.Float("threshold", 20);
  Value* scaled = beta == 1 ? x : e.Mul(x, e.Like(x, beta));
  Value* y = e.Unary("softplus", scaled);
  if (beta != 1) y = e.Div(y, e.Like(x, beta));
  if (threshold < 15) y = e.Where(e.Binary("greater", scaled, e.Like(x, threshold)), x, y);
  n.Out(y);
  return {};
}

Status LogSigmoid(AtenNode& n) {
  Emit e(n.b);
  Value* y = e.Unary("neg", e.Unary("softplus", e.Unary("neg", n.In("self"))));
  n.Out(y);
  if (n.schema.returns.size() > 1) n.Out(y);  // log_sigmoid_forward also returns a buffer of the gradient
  return {};
}

Status Threshold(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const DType t = x->type.dtype;
  n.Out(e.Where(e.Binary("greater", x, As(n, "threshold", t)), x, As(n, "value", t)));
  return {};
}

// The weight applies to axis 1, or to all elements if it is one number.
Status Prelu(AtenNode& n) {
  Value *x = n.In("self"), *w = n.In("weight");
  const int rank = x->type.shape.rank();
  if (rank < 0) return n.NotYet("a tensor of unknown rank");
  if (w->type.shape.rank() == 1 && rank > 2 && !w->type.shape[0].Is(1)) {
    std::vector<int64_t> dims(static_cast<size_t>(rank - 1), 1);
    dims[0] = -1;
    w = Emit(n.b).Reshape(w, dims);
  }
  n.Out(n.b.Op("Binary", {x, w}, {{"kind", "prelu"}}));
  return {};
}

Status Glu(AtenNode& n) {
  const auto halves =
      n.b.Ops("Split", {n.In("self")}, {{"axis", n.Int("dim", -1)}, {"num_outputs", int64_t{2}}}, 2);
  Emit e(n.b);
  n.Out(e.Mul(halves[0], e.Unary("sigmoid", halves[1])));
  return {};
}

Status Clamp(AtenNode& n) {
  std::vector<const Arg*> operands = {&n.Get("self")};
  for (const char* limit : {"min", "max", "min_val", "max_val"})
    if (n.Has(limit)) operands.push_back(&n.Get(limit));
  DType t = ResultType(operands);
  if (t == DType::kBool) t = DType::kI64;
  const bool vectors = n.Get("min").is_tensor() || n.Get("max").is_tensor();
  const char* low = n.HasParameter("min_val") ? "min_val" : "min";
  const char* high = n.HasParameter("max_val") ? "max_val" : "max";
  Value *x = As(n, "self", t), *lower = As(n, low, t), *upper = As(n, high, t);
  if (!vectors) {
    n.Out(n.b.Op("Clip", {x, lower, upper}));
    return {};
  }
  Emit e(n.b);
  if (lower) x = e.Binary("max", x, lower);
  n.Out(upper ? e.Binary("min", x, upper) : x);
  return {};
}

Status Relu6(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  n.Out(n.b.Op("Clip", {x, e.Like(x, 0), e.Like(x, 6)}));
  return {};
}

Status SoftmaxOf(AtenNode& n, const char* kind) {
  Emit e(n.b);
  Value* x = n.In("self");
  const DType given = x->type.dtype;
  DType t = n.Type("dtype", FloatOf(given));
  if (n.HasParameter("half_to_float") && n.Bool("half_to_float")) t = DType::kF32;
  x = e.Cast(x, t);
  if (x->type.shape.rank() == 0) {
    n.Out(e.Fill(e.Shape(x), t, std::string_view(kind) == "softmax" ? 1 : 0));
    return {};
  }
  n.Out(n.b.Op("Softmax", {x}, {{"kind", kind}, {"axis", n.Int("dim")}}));
  return {};
}

// Softmax whose result is 0 where all elements are minus infinity.
Status SafeSoftmax(AtenNode& n) {
  Emit e(n.b);
  Value* x = e.Cast(n.In("self"), n.Type("dtype", n.TypeOf("self")));
  const int64_t axis = n.Int("dim");
  Value* y = n.b.Op("Softmax", {x}, {{"axis", axis}});
  Value* masked = e.Binary("equal", e.Reduce("max", x, {axis}, true), e.Like(x, -INFINITY));
  n.Out(e.Where(masked, e.Like(x, 0), y));
  return {};
}

}  // namespace

TERN_CONVERTERS(activation) {
  table.Add("aten::gelu", Gelu);
  table.Add("aten::silu", Silu);
  table.Add("aten::hardswish", Simple("hard_swish"));
  table.Add("aten::mish", Simple("mish"));
  table.Add("aten::leaky_relu", LeakyRelu);
  table.Add("aten::rrelu", Rrelu);
  table.Add("aten::elu", Elu);
  table.Add("aten::selu", Selu);
  table.Add("aten::celu", Celu);
  table.Add("aten::hardsigmoid", HardSigmoid);
  table.Add("aten::hardshrink", [](AtenNode& n) { return Shrink(n, false); });
  table.Add("aten::softshrink", [](AtenNode& n) { return Shrink(n, true); });
  table.Add("aten::softplus", Softplus);
  table.Add("aten::log_sigmoid", LogSigmoid);
  table.Add("aten::log_sigmoid_forward", LogSigmoid);
  table.Add("aten::threshold", Threshold);
  table.Add("aten::prelu", Prelu);
  table.Add("aten::_prelu_kernel", Prelu);
  table.Add("aten::glu", Glu);
  table.Add("aten::clamp", Clamp);
  table.Add("aten::clip", Clamp);
  table.Add("aten::clamp_min", Clamp);
  table.Add("aten::clamp_max", Clamp);
  table.Add("aten::hardtanh", Clamp);
  table.Add("aten::relu6", Relu6);
  table.Add("aten::softmax", [](AtenNode& n) { return SoftmaxOf(n, "softmax"); });
  table.Add("aten::_softmax", [](AtenNode& n) { return SoftmaxOf(n, "softmax"); });
  table.Add("aten::special_softmax", [](AtenNode& n) { return SoftmaxOf(n, "softmax"); });
  table.Add("aten::log_softmax", [](AtenNode& n) { return SoftmaxOf(n, "log_softmax"); });
  table.Add("aten::_log_softmax", [](AtenNode& n) { return SoftmaxOf(n, "log_softmax"); });
  table.Add("aten::_safe_softmax", SafeSoftmax);
}

}  // namespace tern::torch
