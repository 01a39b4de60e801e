// Converts gradients of simple functions, which appear in models that compute saliency maps or take a step of
// training.
#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

using GradientFunction = Value* (*)(TfNode& n, Value* a, Value* b);

Converter GradientMap(GradientFunction function) {
  return
      [function](TfNode& n) { return MapInputs(n, [&](Value* a, Value* b) { return function(n, a, b); }); };
}

Value* GradientWhere(TfNode& n, Value* condition, Value* a, Value* b) {
  return n.Op("Where", {condition, a, b});
}
Value* Mul(TfNode& n, Value* a, Value* b) { return n.Binary("mul", a, b); }
Value* Positive(TfNode& n, Value* x) { return n.Binary("greater", x, n.Like(x, 0)); }
Value* Plus(TfNode& n, Value* x, double v) { return n.Binary("add", x, n.Like(x, v)); }

// Inputs: gradients, features.
Value* ReluGrad(TfNode& n, Value* g, Value* x) { return GradientWhere(n, Positive(n, x), g, n.Like(g, 0)); }
Value* Relu6Grad(TfNode& n, Value* g, Value* x) {
  return GradientWhere(n, n.Binary("and", Positive(n, x), n.Binary("less", x, n.Like(x, 6))), g,
                       n.Like(g, 0));
}
Value* LeakyReluGrad(TfNode& n, Value* g, Value* x) {
  return GradientWhere(n, Positive(n, x), g, Mul(n, g, n.Like(g, n.Float("alpha"))));
}
Value* SoftplusGrad(TfNode& n, Value* g, Value* x) { return Mul(n, g, n.Unary("sigmoid", x)); }
Value* SoftsignGrad(TfNode& n, Value* g, Value* x) {
  Value* d = Plus(n, n.Unary("abs", x), 1);
  return n.Binary("div", g, Mul(n, d, d));
}
// Inputs: gradients, outputs.
Value* EluGrad(TfNode& n, Value* g, Value* y) {
  return GradientWhere(n, n.Binary("less", y, n.Like(y, 0)), Mul(n, g, Plus(n, y, 1)), g);
}
Value* SeluGrad(TfNode& n, Value* g, Value* y) {
  constexpr double kScale = 1.0507009873554804934, kScaleAlpha = 1.7580993408473768;
  return GradientWhere(n, n.Binary("less", y, n.Like(y, 0)), Mul(n, g, Plus(n, y, kScaleAlpha)),
                       Mul(n, g, n.Like(g, kScale)));
}
// Inputs: y, dy.
Value* SigmoidGrad(TfNode& n, Value* y, Value* dy) {
  return Mul(n, dy, Mul(n, y, n.Binary("sub", n.Like(y, 1), y)));
}
Value* TanhGrad(TfNode& n, Value* y, Value* dy) {
  return Mul(n, dy, n.Binary("sub", n.Like(y, 1), Mul(n, y, y)));
}
Value* SqrtGrad(TfNode& n, Value* y, Value* dy) { return n.Binary("div", Mul(n, dy, n.Like(dy, 0.5)), y); }
Value* RsqrtGrad(TfNode& n, Value* y, Value* dy) {
  return Mul(n, Mul(n, dy, n.Like(dy, -0.5)), Mul(n, y, Mul(n, y, y)));
}
Value* InvGrad(TfNode& n, Value* y, Value* dy) { return n.Unary("neg", Mul(n, dy, Mul(n, y, y))); }

Status BiasAddGrad(TfNode& n) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  const bool first = n.Text("data_format") == "NCHW";
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    if (i != (first ? 1 : rank - 1)) axes.push_back(i);
  n.Out(0, n.Reduce("sum", n.In(0), axes, false));
  return {};
}

}  // namespace

TERN_CONVERTERS(gradient) {
  static constexpr std::pair<const char*, GradientFunction> kFunctions[] = {
      {"ReluGrad", ReluGrad},         {"Relu6Grad", Relu6Grad},       {"LeakyReluGrad", LeakyReluGrad},
      {"SoftplusGrad", SoftplusGrad}, {"SoftsignGrad", SoftsignGrad}, {"EluGrad", EluGrad},
      {"SeluGrad", SeluGrad},         {"SigmoidGrad", SigmoidGrad},   {"TanhGrad", TanhGrad},
      {"SqrtGrad", SqrtGrad},         {"RsqrtGrad", RsqrtGrad},       {"InvGrad", InvGrad},
      {"ReciprocalGrad", InvGrad}};
  for (const auto& [op, function] : kFunctions) table.Add(op, GradientMap(function));
  table.Add("BiasAddGrad", BiasAddGrad);
}

}  // namespace tern::tensorflow
