#include <cmath>

#include "makers.h"

namespace tern {
namespace {

void AnyUnary(Grower& g) {
  static const std::vector<const char*> kKinds = {"abs",        "neg",  "relu",     "sigmoid",
                                                  "tanh",       "erf",  "softplus", "softsign",
                                                  "hard_swish", "mish", "sin",      "cos"};
  if (Value* x = g.Float()) g.Unary(g.random().Pick(kKinds), x);
}

void BoundedUnary(Grower& g) {
  Value* x = g.Float();
  if (!x) return;
  if (g.Greatest(x) < 6) g.Unary("exp", x);
  if (g.Least(x) < 0.05) x = g.Binary("add", g.Unary("abs", x), g.Scalar(0.5));
  static const std::vector<const char*> kKinds = {"sqrt", "log", "reciprocal"};
  if (x) g.Unary(g.random().Pick(kKinds), x);
}

void Sums(Grower& g) {
  static const std::vector<const char*> kKinds = {"add", "sub", "mul", "mul", "add", "min", "max"};
  Value* x = g.Float();
  Value* y = g.Operand(x);
  if (g.random().Chance(0.3)) std::swap(x, y);
  g.Binary(g.random().Pick(kKinds), x, y);
}

void Division(Grower& g) {
  Value* x = g.Float();
  Value* y = g.Operand(x);
  if (y && (g.Least(y) > 0.05 || g.Greatest(y) < -0.05)) g.Binary("div", x, y);
}

void Power(Grower& g) {
  static const std::vector<double> kExponents = {0, 1, 2, 2, 3, 0.5, -1, -0.5, 1.5};
  Value* x = g.Float();
  const double e = g.random().Pick(kExponents);
  if (x && (std::floor(e) != e || e < 0) && g.Least(x) < 0.05)
    x = g.Binary("add", g.Binary("mul", x, x), g.Scalar(0.1));
  g.Binary("pow", x, g.Scalar(e));
}

// Adds three operations with constants in a row, such as ((x * 2) * 0.5) + 3.
void Chain(Grower& g) {
  static const std::vector<const char*> kKinds = {"add", "sub", "mul", "min", "max"};
  static const std::vector<double> kNumbers = {0, 1, -1, 2, 0.5, 3};
  Value* x = g.Float();
  const char* kind = g.random().Pick(kKinds);
  for (int i = 0; i < 3 && x; ++i) {
    Value* c = g.Scalar(g.random().Pick(kNumbers));
    x = g.random().Chance(0.3) ? g.Binary(kind, c, x) : g.Binary(kind, x, c);
    if (g.random().Chance(0.3)) kind = g.random().Pick(kKinds);
  }
}

// Adds two equal nodes, which are a common subexpression, and a node that combines their results. With
// probability 0.5, a Neg negates the second result before they are combined.
void Twins(Grower& g) {
  Value* x = g.Float();
  Value *a = g.Unary("sigmoid", x), *b = g.Unary("sigmoid", x);
  g.Binary(g.random().Chance(0.5) ? "add" : "mul", a, g.random().Chance(0.5) ? b : g.Unary("neg", b));
}

void Select(Grower& g) {
  static const std::vector<const char*> kKinds = {"less", "greater", "less_equal", "greater_equal", "equal"};
  Value* x = g.Exact();
  if (!x) return;
  Value* c = g.Binary(g.random().Pick(kKinds), x, g.Scalar(g.random().Pick(std::vector<double>{0, 0.3, -1})));
  if (g.random().Chance(0.3)) c = g.Unary("not", c);
  Value* other = g.random().Chance(0.5) ? g.Scalar(0) : g.Operand(x);
  g.Op("Where", g.random().Chance(0.5) ? std::vector<Value*>{c, x, other} : std::vector<Value*>{c, other, x});
}

void Bounds(Grower& g) {
  Value* x = g.Float();
  const auto bound = [&](double v) { return g.Const(Tensor::Scalar(DType::kF32, v)); };
  const double low = g.random().Pick(std::vector<double>{0, -1, -0.5});
  Value* y = g.Op("Clip", {x, bound(low), bound(g.random().Pick(std::vector<double>{1, 6, 0.5}))});
  if (g.random().Chance(0.4)) g.Op("Clip", {y, bound(-0.25), bound(0.75)});
}

void Conversion(Grower& g) {
  static const std::vector<DType> kWide = {DType::kF64, DType::kF32, DType::kF64};
  Value* x = g.random().Chance(0.6) ? g.Float() : g.Exact();
  Value* y = g.Op("Cast", {x}, {{"to", g.random().Pick(kWide)}});
  if (y && g.random().Chance(0.4)) y = g.Unary("neg", y);
  g.Op("Cast", {y}, {{"to", DType::kF32}});
}

void IntegerCast(Grower& g) {
  Value* x = g.Exact();
  static const std::vector<DType> kInts = {DType::kI32, DType::kI64, DType::kBool, DType::kI8};
  g.Op("Cast", {g.Op("Cast", {x}, {{"to", g.random().Pick(kInts)}})}, {{"to", DType::kF32}});
}

void Quantized(Grower& g) {
  Value* x = g.Exact();
  const DType to = g.random().Chance(0.5) ? DType::kU8 : DType::kI8;
  const double scale = g.random().Pick(std::vector<double>{0.037, 0.11, 0.0213});
  const auto number = [&](double v) { return g.Const(Tensor::Scalar(DType::kF32, v)); };
  Value* zero = g.Const(Tensor::Scalar(to, g.random().Below(3) * 20));
  for (int i = g.random().Between(1, 2); i > 0; --i) {
    Value* q = g.Op("Quantize", {x, number(scale), zero});
    if (q && g.random().Chance(0.3) && q->type.shape.rank() > 1) q = g.Op("Transpose", {q});
    x = g.Op("Dequantize", {q, number(scale), zero});
  }
}

void Activate(Grower& g) {
  static const std::vector<const char*> kKinds = {"leaky_relu", "elu",    "hard_sigmoid",
                                                  "swish",      "affine", "thresholded_relu"};
  const std::string kind = g.random().Pick(kKinds);
  Value* x = kind == "thresholded_relu" ? g.Exact() : g.Float();
  g.Op("Activation", {x},
       {{"kind", kind},
        {"alpha", g.random().Pick(std::vector<double>{0, 0.1, 1, 0.5})},
        {"beta", g.random().Pick(std::vector<double>{0, 0.5, 1})}});
}

}  // namespace

std::vector<Maker> ElementwiseMakers() {
  return {AnyUnary, BoundedUnary, Sums,   Sums,       Division,    Power,     Chain,
          Twins,    Select,       Bounds, Conversion, IntegerCast, Quantized, Activate};
}

}  // namespace tern
