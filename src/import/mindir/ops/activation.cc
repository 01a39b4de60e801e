// Converts activation functions.
#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

Status Activate(MindNode& n, const char* kind, double alpha, double beta = 0) {
  TERN_TRY(Require(n, 0, kFloats));
  n.Out(n.b.Op("Activation", {n.In(0)}, {{"kind", kind}, {"alpha", alpha}, {"beta", beta}}));
  return {};
}

Status Clip(MindNode& n, double low, double high) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  Value* x = n.In(0);
  n.Out(n.b.Op("Clip", {x, e.Like(x, low), e.Like(x, high)}));
  return {};
}

// `otherwise` is the formula, "none" (exact) or "tanh", of a node without the argument approximate.
Status Gelu(MindNode& n, const char* otherwise) {
  TERN_TRY(Require(n, 0, kFloats));
  n.Out(
      n.b.Op("Gelu", {n.In(0)}, {{"approximate", n.Text(1, {"approximate"}, otherwise, {"none", "tanh"})}}));
  return {};
}

Status HardTanh(MindNode& n) { return Clip(n, n.Float(1, {"min_val"}, -1), n.Float(2, {"max_val"}, 1)); }

// The slopes are one number, or one for each channel, which is axis 1.
Status PRelu(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(Require(n, 1, kFloats));
  TERN_TRY(RequireRank(n, 0, 0));
  Emit e(n);
  Value* slope = n.In(1);
  std::vector<int64_t> axes;
  for (int i = 1; i < n.RankOf(0) - 1; ++i) axes.push_back(i);
  if (!axes.empty() && n.RankOf(1) == 1) slope = e.Unsqueeze(slope, axes);
  n.Out(e.Binary("prelu", n.In(0), slope));
  return {};
}

// x where it is larger than the threshold, else a constant.
Status Threshold(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  Value* x = n.In(0);
  Value* larger = e.Binary("greater", x, e.Like(x, n.Float(1, {"threshold"})));
  n.Out(e.Where(larger, x, e.Like(x, n.Float(2, {"value"}))));
  return {};
}

// softplus(beta * x) / beta, and x itself where beta * x is above the threshold.
Status SoftplusExt(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  Value* x = n.In(0);
  const double beta = n.Float(1, {"beta"}, 1);
  Value* scaled = beta == 1 ? x : e.Mul(x, e.Like(x, beta));
  Value* y = e.Unary("softplus", scaled);
  if (beta != 1) y = e.Div(y, e.Like(x, beta));
  n.Out(e.Where(e.Binary("greater", scaled, e.Like(x, n.Float(2, {"threshold"}, 20))), x, y));
  return {};
}

// log(p / (1 - p)), where p is x, limited to [eps, 1 - eps] if eps is not negative.
Status Logit(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  Value* p = n.In(0);
  const double eps = n.Float(1, {"eps"}, -1);
  if (eps >= 0) p = n.b.Op("Clip", {p, e.Like(p, eps), e.Like(p, 1 - eps)});
  n.Out(e.Unary("log", e.Div(p, e.Sub(e.Like(p, 1), p))));
  return {};
}

// Splits x in two halves along an axis.
Result<std::vector<Value*>> Halves(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  return n.b.Ops("Split", {n.In(0)}, {{"axis", n.Int(1, {"axis", "dim"}, -1)}}, 2);
}

Status Glu(MindNode& n) {
  TERN_ASSIGN(std::vector<Value*> parts, Halves(n));
  Emit e(n);
  n.Out(e.Mul(parts[0], e.Unary("sigmoid", parts[1])));
  return {};
}

Status Swiglu(MindNode& n) {
  TERN_ASSIGN(std::vector<Value*> parts, Halves(n));
  Emit e(n);
  n.Out(e.Mul(n.b.Op("Activation", {parts[0]}, {{"kind", "swish"}, {"alpha", 1.0}}), parts[1]));
  return {};
}

constexpr double kSeluAlpha = 1.6732632423543772, kSeluGamma = 1.0507009873554805;

}  // namespace

TERN_CONVERTERS(activation) {
  table.Add("ReLU6", [](MindNode& n) { return Clip(n, 0, 6); });
  table.Add("Hardtanh", HardTanh);
  table.Add("HSigmoid", [](MindNode& n) { return Activate(n, "hard_sigmoid", 1.0 / 6, 0.5); });
  for (const char* name : {"SiLU", "SiLUExt"})
    table.Add(name, [](MindNode& n) { return Activate(n, "swish", 1); });
  for (const char* name : {"FastGeLU", "FastGelu"})
    table.Add(name, [](MindNode& n) { return Activate(n, "swish", 1.702); });
  for (const char* name : {"GeLU", "Gelu"}) table.Add(name, [](MindNode& n) { return Gelu(n, "tanh"); });
  table.Add("GeluExt", [](MindNode& n) { return Gelu(n, "none"); });
  for (const char* name : {"Elu", "EluExt"})
    table.Add(name, [](MindNode& n) { return Activate(n, "elu", n.Float(1, {"alpha"}, 1)); });
  for (const char* name : {"CeLU", "CeLUExt"})
    table.Add(name, [](MindNode& n) { return Activate(n, "celu", n.Float(1, {"alpha"}, 1)); });
  for (const char* name : {"SeLU", "SeLUExt"})
    table.Add(name, [](MindNode& n) { return Activate(n, "selu", kSeluAlpha, kSeluGamma); });
  table.Add("LeakyReLUExt",
            [](MindNode& n) { return Activate(n, "leaky_relu", n.Float(1, {"negative_slope"}, 0.01)); });
  table.Add("LeakyReLU", [](MindNode& n) { return Activate(n, "leaky_relu", n.Float(1, {"alpha"}, 0.2)); });
  table.Add("HShrink", [](MindNode& n) { return Activate(n, "shrink", n.Float(1, {"lambd"}, 0.5)); });
  table.Add("SoftShrink", [](MindNode& n) {
    const double lambd = n.Float(1, {"lambd"}, 0.5);
    return Activate(n, "shrink", lambd, lambd);
  });
  table.Add("PReLU", PRelu);
  table.Add("Threshold", Threshold);
  table.Add("SoftplusExt", SoftplusExt);
  table.Add("Logit", Logit);
  table.Add("GLU", Glu);
  table.Add("Swiglu", Swiglu);
}

}  // namespace tern::mindir
