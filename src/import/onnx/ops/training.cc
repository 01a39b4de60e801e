// Converts one step of a training algorithm: Adagrad, Adam, Momentum. The inputs are R (learning rate), T
// (step count), all tensors to optimise, all their gradients, then all state tensors.
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

class Optimizer {
 public:
  // `states` is the number of state tensors per optimized tensor.
  Optimizer(OnnxNode& node, int states)
      : n(node), states_(states), count_((node.InputCount() - 2) / (2 + states)) {}

  // Calls step(x, g, states) for each optimised tensor x and sets the outputs. g is the gradient of x plus
  // the regularization term. `step` emits the new x and the new states, and returns them in this order.
  template <class F> Status Run(F step) {
    if (count_ < 1 || n.InputCount() != 2 + count_ * (2 + states_))
      return n.Bad("must have the inputs R, T and ", 2 + states_, " tensors for each optimized tensor, got ",
                   n.InputCount(), " inputs");
    for (int i = 0; i < n.InputCount(); ++i) TERN_TRY(Require(n, i));
    for (int i = 0; i < count_; ++i) {
      Value* x = n.In(2 + i);
      type = x->type.dtype;
      std::vector<Value*> state;
      for (int s = 0; s < states_; ++s) state.push_back(n.In(2 + (2 + s) * count_ + i));
      Value* g = Add(Times(x, n.Float("norm_coefficient")), n.In(2 + count_ + i));
      const std::vector<Value*> results = step(x, g, state);
      for (size_t r = 0; r < results.size(); ++r) n.Out(static_cast<int>(r) * count_ + i, results[r]);
    }
    return {};
  }

  Value* Binary(const char* kind, Value* a, Value* b) { return n.b.Op("Binary", {a, b}, {{"kind", kind}}); }
  Value* Add(Value* a, Value* b) { return Binary("add", a, b); }
  Value* Sub(Value* a, Value* b) { return Binary("sub", a, b); }
  Value* Mul(Value* a, Value* b) { return Binary("mul", a, b); }
  Value* Div(Value* a, Value* b) { return Binary("div", a, b); }
  Value* Number(double v) { return n.b.Scalar(type, v); }
  Value* Times(Value* a, double v) { return Mul(a, Number(v)); }
  Value* Plus(Value* a, double v) { return Add(a, Number(v)); }
  Value* Sqrt(Value* a) { return n.b.Op("Unary", {a}, {{"kind", "sqrt"}}); }
  Value* As(Value* v) { return n.b.Op("Cast", {v}, {{"to", type}}); }
  Value* Rate() { return As(n.In(0)); }
  Value* Count() { return As(n.In(1)); }
  // Emits a value that equals `a` if the step count T is above 0, and `b` otherwise.
  Value* LaterElse(Value* a, Value* b) {
    return n.b.Op("Where", {Binary("greater", Count(), Number(0)), a, b});
  }

  OnnxNode& n;
  DType type = DType::kF32;

 private:
  int states_, count_;
};

Status Adagrad(OnnxNode& n) {
  Optimizer o(n, 1);
  return o.Run([&](Value* x, Value* g, const std::vector<Value*>& state) -> std::vector<Value*> {
    Value* rate = o.Div(o.Rate(), o.Plus(o.Times(o.Count(), n.Float("decay_factor")), 1));
    Value* h = o.Add(state[0], o.Mul(g, g));
    Value* adaptive = o.Plus(o.Sqrt(h), n.Float("epsilon", 1e-6f));
    return {o.Sub(x, o.Div(o.Mul(rate, g), adaptive)), h};
  });
}

Status Adam(OnnxNode& n) {
  Optimizer o(n, 2);
  const double alpha = n.Float("alpha", 0.9f), beta = n.Float("beta", 0.999f);
  return o.Run([&](Value* x, Value* g, const std::vector<Value*>& state) -> std::vector<Value*> {
    Value* v = o.Add(o.Times(state[0], alpha), o.Times(g, 1 - alpha));
    Value* h = o.Add(o.Times(state[1], beta), o.Times(o.Mul(g, g), 1 - beta));
    const auto bias_correction = [&](double base) {
      return o.Sub(o.Number(1), o.Binary("pow", o.Number(base), o.Count()));
    };
    Value* corrected = o.Div(o.Mul(o.Rate(), o.Sqrt(bias_correction(beta))), bias_correction(alpha));
    Value* rate = o.LaterElse(corrected, o.Rate());
    Value* next = o.Sub(x, o.Div(o.Mul(rate, v), o.Plus(o.Sqrt(h), n.Float("epsilon", 1e-6f))));
    return {o.Times(next, 1 - n.Float("norm_coefficient_post")), v, h};
  });
}

Status Momentum(OnnxNode& n) {
  const std::string mode = n.Text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return n.Bad("mode must be standard or nesterov, got '", mode, "'");
  const double alpha = n.Float("alpha");
  Optimizer o(n, 1);
  return o.Run([&](Value* x, Value* g, const std::vector<Value*>& state) -> std::vector<Value*> {
    Value* beta = o.LaterElse(o.Number(n.Float("beta")), o.Number(1));
    Value* v = o.Add(o.Times(state[0], alpha), o.Mul(beta, g));
    Value* direction = mode == "nesterov" ? o.Add(g, o.Times(v, alpha)) : v;
    return {o.Sub(x, o.Mul(o.Rate(), direction)), v};
  });
}

}  // namespace

TERN_CONVERTERS(training) {
  table.Add("Adagrad", Adagrad, kTraining);
  table.Add("Adam", Adam, kTraining);
  table.Add("Momentum", Momentum, kTraining);
}

}  // namespace tern::onnx
