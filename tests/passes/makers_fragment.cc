#include <cmath>

#include "makers.h"

namespace tern {
namespace {

// Returns the constant v, or with probability 0.1 the constant 1.01 * v, with which a pattern must not match.
Value* Near(Grower& g, double v) { return g.Scalar(g.random().Chance(0.1) ? v * 1.01 : v); }

void GeluErf(Grower& g) {
  Value* x = g.Float();
  Value* e = g.Unary("erf", g.random().Chance(0.5) ? g.Binary("div", x, Near(g, std::sqrt(2.0)))
                                                   : g.Binary("mul", x, Near(g, std::sqrt(0.5))));
  Value* one = g.Binary("add", e, Near(g, 1));
  if (g.random().Chance(0.5))
    g.Binary("mul", g.Binary("mul", x, one), Near(g, 0.5));
  else
    g.Binary("mul", g.Binary("mul", x, Near(g, 0.5)), one);
}

void GeluTanh(Grower& g) {
  Value* x = g.Float();
  Value* cube = g.Binary("pow", x, Near(g, 3));
  Value* inner = g.Binary("mul", g.Binary("add", x, g.Binary("mul", cube, Near(g, 0.044715))),
                          Near(g, std::sqrt(2 / M_PI)));
  g.Binary("mul", g.Binary("mul", x, g.Scalar(0.5)), g.Binary("add", g.Unary("tanh", inner), Near(g, 1)));
}

void Silu(Grower& g) {
  Value* x = g.Float();
  Value* s = g.Unary("sigmoid", g.random().Chance(0.3) ? g.Binary("mul", x, Near(g, 1.702)) : x);
  g.Binary("mul", g.random().Chance(0.9) ? x : g.Operand(x), s);
}

void HardSwish(Grower& g) {
  Value* x = g.Float();
  const auto bound = [&](double v) { return g.Const(Tensor::Scalar(DType::kF32, v)); };
  Value* c = g.Op("Clip", {g.Binary("add", x, Near(g, 3)), bound(0), bound(6)});
  g.Binary("div", g.Binary("mul", x, c), Near(g, 6));
}

void LayerNorm(Grower& g) {
  Value* x = g.Float(2, 4);
  if (!x || g.SizeOf(x, -1) < 1) return;
  const auto mean = [&](Value* v) {
    return g.Op("Reduce", {v, g.Ints({g.random().Chance(0.95) ? -1 : 0})},
                {{"kind", std::string("mean")}, {"keep_dims", true}});
  };
  Value* d = g.Binary("sub", x, mean(x));
  Value* square = g.random().Chance(0.5) ? g.Binary("pow", d, Near(g, 2)) : g.Binary("mul", d, d);
  Value* deviation = g.Unary("sqrt", g.Binary("add", mean(square), g.Scalar(1e-2)));
  Value* y = g.Binary("div", d, deviation);
  if (g.random().Chance(0.7)) y = g.Binary("mul", y, g.Weights({g.SizeOf(x, -1)}));
  if (g.random().Chance(0.7)) g.Binary("add", y, g.Weights({g.SizeOf(x, -1)}));
}

void RmsNorm(Grower& g) {
  Value* x = g.Float(2, 4);
  if (!x || g.SizeOf(x, -1) < 1) return;
  Value* mean = g.Op("Reduce", {g.Binary("pow", x, Near(g, 2)), g.Ints({-1})},
                     {{"kind", std::string("mean")}, {"keep_dims", true}});
  Value* root = g.Unary("sqrt", g.Binary("add", mean, g.Scalar(1e-2)));
  Value* y =
      g.random().Chance(0.5) ? g.Binary("div", x, root) : g.Binary("mul", x, g.Unary("reciprocal", root));
  g.Binary("mul", y, g.Weights({g.SizeOf(x, -1)}));
}

void SoftmaxByHand(Grower& g) {
  Value* x = g.Float(2, 4);
  if (!x || g.Greatest(x) > 6) return;
  const AttrList sum = {{"kind", std::string("sum")}, {"keep_dims", true}};
  Value* e = g.Unary("exp", x);
  g.Binary("div", e, g.Op("Reduce", {e, g.Ints({g.random().Chance(0.8) ? -1 : 0})}, sum));
}

// Projects x to [batch, length, heads * size] and returns the projection as [batch, heads, length, size].
Value* Heads(Grower& g, Value* x, int64_t features) {
  Value* y = g.Op("MatMul", {x, g.Weights({features, 4}, -0.7, 0.7)});
  if (g.random().Chance(0.5)) y = g.Binary("add", y, g.Weights({4}));
  y = g.Op("Reshape", {y, g.Ints({0, 0, 2, 2})});
  return g.Op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

void Attention(Grower& g) {
  Value* x = g.Float(3, 3);
  if (!x || g.SizeOf(x, -1) < 1 || g.Greatest(x) > 10) return;
  const int64_t features = g.SizeOf(x, -1);
  Value *q = Heads(g, x, features), *k = Heads(g, x, features), *v = Heads(g, x, features);
  if (g.random().Chance(0.3)) q = g.Binary("mul", q, Near(g, std::sqrt(0.5)));
  Value* scores = g.Op("MatMul", {q, g.Op("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}})});
  if (g.random().Chance(0.7)) scores = g.Binary("div", scores, Near(g, std::sqrt(2.0)));
  if (g.random().Chance(0.3)) scores = g.Binary("add", scores, g.Operand(scores));
  Value* p = g.Op("Softmax", {scores}, {{"axis", int64_t{g.random().Chance(0.9) ? -1 : 2}}});
  Value* y = g.Op("MatMul", {p, v});
  y = g.Op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  g.Op("Reshape", {y, g.Ints({0, 0, 4})});
}

void Rotary(Grower& g) {
  Value* x = g.Float(3, 4);
  if (!x || g.SizeOf(x, -1) != 4) return;
  const auto half = [&](int64_t from, int64_t to) {
    return g.Op("Slice", {x, g.Ints({from}), g.Ints({to}), g.Ints({-1})});
  };
  Value *a = half(0, 2), *b = half(2, g.random().Chance(0.5) ? 4 : INT64_MAX);
  Value* rotated =
      g.Op("Concat", {g.random().Chance(0.9) ? g.Unary("neg", b) : b, a}, {{"axis", int64_t{-1}}});
  g.Binary("add", g.Binary("mul", x, g.Weights({4})), g.Binary("mul", rotated, g.Weights({4})));
}

}  // namespace

std::vector<Maker> FragmentMakers() {
  return {GeluErf, GeluTanh,      Silu,      HardSwish, LayerNorm,
          RmsNorm, SoftmaxByHand, Attention, Attention, Rotary};
}

}  // namespace tern
