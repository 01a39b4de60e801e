#include "makers.h"

namespace tern {
namespace {

int RankOf(const Value* v) { return v->type.shape.rank(); }

void Product(Grower& g) {
  Value* x = g.Float(2, 4);
  if (!x || g.SizeOf(x, -1) < 1) return;
  const int64_t k = g.SizeOf(x, -1), n = g.random().Between(1, 4);
  Value* y = g.Op("MatMul", {x, g.Weights({k, n})});
  if (y && g.random().Chance(0.5)) y = g.Binary("add", y, g.Weights({n}));
  if (y && g.random().Chance(0.3))
    y = g.Binary("mul", y, g.random().Chance(0.5) ? g.Scalar(0.5) : g.Weights({n}));
  if (y && g.random().Chance(0.3)) y = g.Unary(g.random().Chance(0.5) ? "relu" : "tanh", y);
  if (y && g.random().Chance(0.3)) g.Op("MatMul", {y, g.Weights({n, 3})});
}

// Adds several matrix products that read the same value.
void Projections(Grower& g) {
  Value* x = g.Float(2, 3);
  if (!x || g.SizeOf(x, -1) < 1) return;
  const int64_t k = g.SizeOf(x, -1);
  for (int i = 0; i < 3; ++i) {
    Value* y = g.Op("MatMul", {x, g.Weights({k, 2})});
    if (y && g.random().Chance(0.7)) g.Binary("add", y, g.Weights({2}));
  }
}

void Pairwise(Grower& g) {
  Value *x = g.Float(2, 4), *y = g.Operand(x);
  if (!x || !y || RankOf(y) < 2) y = x;
  if (!x) return;
  std::vector<int64_t> perm;
  for (int i = 0; i < RankOf(y); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  Value* t = g.Op("Transpose", {y}, {{"perm", perm}});
  Value* z = g.random().Chance(0.5) ? g.Op("MatMul", {x, t}) : g.Op("MatMul", {t, x});
  if (z && g.random().Chance(0.5)) z = g.Binary(g.random().Chance(0.5) ? "mul" : "div", z, g.Scalar(2));
}

void Convolution(Grower& g) {
  Value* x = g.Float(4, 4);
  if (!x || g.SizeOf(x, 1) < 1) return;
  const int64_t c = g.SizeOf(x, 1), m = g.random().Between(1, 4), k = g.random().Chance(0.5) ? 1 : 3;
  const bool depth = g.random().Chance(0.25);
  const std::vector<int64_t> pads(4, k / 2);
  Value* w = depth ? g.Weights({c, 1, k, k}) : g.Weights({m, c, k, k});
  const int64_t out = depth ? c : m;
  AttrList attrs = {{"pads", pads}, {"group", depth ? c : int64_t{1}}};
  if (g.random().Chance(0.2)) attrs.push_back({"strides", std::vector<int64_t>{2, 2}});
  std::vector<Value*> inputs = {x, w};
  if (g.random().Chance(0.4)) inputs.push_back(g.Weights({out}));
  Value* y = g.Op("Conv", inputs, attrs);
  if (y && g.random().Chance(0.4))
    y = g.Op("BatchNorm",
             {y, g.Weights({out}), g.Weights({out}), g.Weights({out}), g.Weights({out}, 0.5, 2)});
  if (y && g.random().Chance(0.3)) y = g.Binary("mul", y, g.Weights({out, 1, 1}));
  if (y && g.random().Chance(0.3)) y = g.Binary("add", y, g.Operand(y));
  if (y && g.random().Chance(0.5)) g.Unary(g.random().Chance(0.7) ? "relu" : "hard_swish", y);
}

void BatchNorms(Grower& g) {
  Value* x = g.Float(3, 4);
  if (!x || g.SizeOf(x, 1) < 1) return;
  const int64_t c = g.SizeOf(x, 1);
  g.Op("BatchNorm", {x, g.Weights({c}), g.Weights({c}), g.Weights({c}), g.Weights({c}, 0.5, 2)});
}

void Pools(Grower& g) {
  Value* x = g.Float(4, 4);
  const std::string kind = g.random().Chance(0.5) ? "max" : "average";
  if (g.random().Chance(0.3)) {
    g.Op("GlobalPool", {x}, {{"kind", kind}});
    return;
  }
  const int64_t k = g.random().Between(1, 2);
  g.Op("Pool", {x},
       {{"kind", kind}, {"kernel", std::vector<int64_t>{k, k}}, {"strides", std::vector<int64_t>{k, 1}}});
}

void Reductions(Grower& g) {
  static const std::vector<const char*> kKinds = {"sum", "mean", "max", "min", "l1", "sum_square", "mean"};
  Value* x = g.Float(1, 4);
  if (!x) return;
  std::vector<int64_t> axes = {g.random().Below(RankOf(x))};
  if (RankOf(x) > 2 && g.random().Chance(0.4)) axes = {-2, -1};
  Value* y = g.Op("Reduce", {x, g.Ints(axes)},
                  {{"kind", std::string(g.random().Pick(kKinds))}, {"keep_dims", g.random().Chance(0.6)}});
  if (y && g.random().Chance(0.4)) g.Binary("sub", x, y);
  if (y && RankOf(y) > 0 && g.random().Chance(0.3))
    g.Op("Reduce", {y, g.Ints({g.random().Below(RankOf(y))})},
         {{"kind", std::string(g.random().Pick(kKinds))}});
}

void Softmaxes(Grower& g) {
  Value* x = g.Float(1, 4);
  if (!x) return;
  const int64_t axis = g.random().Chance(0.6) ? -1 : g.random().Below(RankOf(x));
  Value* y =
      g.Op("Softmax", {x},
           {{"kind", std::string(g.random().Chance(0.7) ? "softmax" : "log_softmax")}, {"axis", axis}});
  if (y && g.random().Chance(0.2)) g.Op("Reduce", {y, g.Ints({axis})}, {{"kind", std::string("sum")}});
}

void ArgMax(Grower& g) {
  Value* x = g.Exact(1, 4);
  if (!x) return;
  Value* y =
      g.Op("ArgReduce", {x}, {{"kind", std::string("max")}, {"axis", int64_t{g.random().Below(RankOf(x))}}});
  g.Op("Cast", {y}, {{"to", DType::kF32}});
}

}  // namespace

std::vector<Maker> LayerMakers() {
  return {Product,    Product, Projections, Pairwise,   Convolution, Convolution,
          BatchNorms, Pools,   Reductions,  Reductions, Softmaxes,   ArgMax};
}

}  // namespace tern
