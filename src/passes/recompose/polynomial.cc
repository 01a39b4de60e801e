#include "passes/recompose/polynomial.h"

#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

constexpr int kMaxDegree = 4, kMaxDepth = 12;

using Maybe = std::optional<Polynomial>;

Polynomial Trimmed(Polynomial p) {
  for (auto it = p.begin(); it != p.end();) it = it->second == 0 ? p.erase(it) : std::next(it);
  return p;
}

Polynomial Sum(const Polynomial& a, const Polynomial& b, double factor) {
  Polynomial sum = a;
  for (const auto& [power, c] : b) sum[power] += factor * c;
  return Trimmed(std::move(sum));
}

Maybe Product(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const auto& [i, c] : a)
    for (const auto& [j, d] : b) {
      if (i + j > kMaxDegree) return std::nullopt;
      product[i + j] += c * d;
    }
  return Trimmed(std::move(product));
}

std::optional<double> Number(const Polynomial& p) {
  if (p.empty()) return 0.0;
  if (p.size() == 1 && p.begin()->first == 0) return p.begin()->second;
  return std::nullopt;
}

// Skips views that only add or remove leading dims of 1, because broadcasting ignores these dims.
const Value* Plain(const Value* v) {
  for (const Node* view = MadeByView(v); view && SameButForOnes(v->type.shape, view->input(0)->type.shape);
       view = MadeByView(v))
    v = view->input(0);
  return v;
}

class Reader {
 public:
  explicit Reader(const Value* x) : x_(Plain(x)) {}

  Maybe Of(const Value* v, int depth) const {
    if (Plain(v) == x_) return Polynomial{{1, 1.0}};
    if (const auto number = ScalarOf(v)) return Trimmed({{0, *number}});
    if (!v->producer || depth > kMaxDepth || !IsFloatValue(v)) return std::nullopt;
    const Node& n = *v->producer;
    if (IsOp(n, "Binary")) return OfBinary(n, depth);
    if (IsOp(n, "Unary", "neg")) {
      const Maybe a = Of(n.input(0), depth + 1);
      return a ? Maybe(Sum({}, *a, -1)) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  Maybe OfBinary(const Node& n, int depth) const {
    const Maybe a = Of(n.input(0), depth + 1);
    if (!a) return std::nullopt;
    const Maybe b = Of(n.input(1), depth + 1);
    if (!b) return std::nullopt;
    const std::string kind = KindName(n);
    if (kind == "add") return Sum(*a, *b, 1);
    if (kind == "sub") return Sum(*a, *b, -1);
    if (kind == "mul") return Product(*a, *b);
    const auto number = Number(*b);
    if (!number) return std::nullopt;
    if (kind == "div" && *number != 0) return Sum({}, *a, 1 / *number);
    if (kind == "pow" && *number >= 1 && *number <= kMaxDegree && *number == std::floor(*number))
      return Power(*a, static_cast<int>(*number));
    return std::nullopt;
  }

  static Maybe Power(const Polynomial& a, int times) {
    Maybe power = a;
    for (int i = 1; i < times && power; ++i) power = Product(*power, a);
    return power;
  }

  const Value* x_;
};

// Removes one Mul, Div or Neg. Returns nullopt if there is none.
std::optional<Scaled> Step(Value* v) {
  Node* n = v->producer;
  if (!n || !OnlyUse(v)) return std::nullopt;
  if (IsOp(*n, "Unary", "neg")) return Scaled{-1, n->input(0)};
  if (!IsOp(*n, "Binary")) return std::nullopt;
  const std::string kind = KindName(*n);
  const auto left = ScalarOf(n->input(0)), right = ScalarOf(n->input(1));
  if (kind == "mul" && right) return Scaled{*right, n->input(0)};
  if (kind == "mul" && left) return Scaled{*left, n->input(1)};
  if (kind == "div" && right && *right != 0) return Scaled{1 / *right, n->input(0)};
  return std::nullopt;
}

}  // namespace

Maybe PolynomialOf(const Value* v, const Value* x) { return v ? Reader(x).Of(v, 0) : std::nullopt; }

bool Near(double found, double expected, DType dtype) {
  const double slack = dtype == DType::kBF16 ? 2e-2 : dtype == DType::kF16 ? 3e-3 : 3e-6;
  return std::abs(found - expected) <= slack * std::abs(expected);
}

bool Near(const Polynomial& found, const Polynomial& expected, DType dtype) {
  if (found.size() != expected.size()) return false;
  for (const auto& [power, c] : expected) {
    const auto it = found.find(power);
    if (it == found.end() || !Near(it->second, c, dtype)) return false;
  }
  return true;
}

Scaled PeelFactor(Value* v) {
  Scaled s{1, v};
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const auto step = Step(s.value);
    // Stops if a constant has a larger rank than the other operand.
    const int rank = s.value->type.shape.rank();
    if (!step || !IsFloatValue(step->value) || rank < 0 || step->value->type.shape.rank() != rank) break;
    s = {s.factor * step->factor, step->value};
  }
  return s;
}

}  // namespace tern
