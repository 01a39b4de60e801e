// Recomposes GELU in its exact and its tanh form. The multiplications may be in any order.
#include <cmath>
#include <numbers>

#include "passes/recompose/polynomial.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// GELU is x * gate, up to a constant factor. The gate is shift + slope * t, where t is the result of
// `function`, an Erf or Tanh.
struct Gate {
  double shift = 0, slope = 0;
  Node* function = nullptr;
};

std::optional<Gate> GateOf(Value* v) {
  if (!OnlyUse(v)) return std::nullopt;
  const Scaled outer = PeelFactor(v);
  const Node* sum = MadeBy(outer.value, "Binary", "add");
  if (!sum || !OnlyUse(outer.value)) return std::nullopt;
  for (int side : {0, 1}) {
    const auto shift = ScalarOf(sum->input(side));
    const Scaled inner = PeelFactor(sum->input(1 - side));
    Node* function = MadeBy(inner.value, "Unary", "erf");
    if (!function) function = MadeBy(inner.value, "Unary", "tanh");
    if (!shift || !function || !OnlyUse(inner.value)) continue;
    return Gate{outer.factor * *shift, outer.factor * inner.factor, function};
  }
  return std::nullopt;
}

// If the argument of `function` is that of the Erf or Tanh in GELU(x), returns the value of Gelu's attribute
// "approximate". Otherwise returns null.
const char* FormulaOf(const Node& function, const Value* x) {
  const auto argument = PolynomialOf(function.input(0), x);
  if (!argument) return nullptr;
  const DType dtype = x->type.dtype;
  if (IsOp(function, "Unary", "erf")) return Near(*argument, {{1, std::sqrt(0.5)}}, dtype) ? "none" : nullptr;
  const double slope = std::sqrt(2 / std::numbers::pi);
  return Near(*argument, {{1, slope}, {3, slope * 0.044715}}, dtype) ? "tanh" : nullptr;
}

// True if the only reader of v is a Mul or Div with a constant number. The rule then fires at that reader and
// includes the number.
bool ScaledNext(const Value* v) {
  if (!OnlyUse(v)) return false;
  const Node& reader = *v->uses[0].first;
  return IsOp(reader, "Binary") && (KindName(reader) == "mul" || KindName(reader) == "div") &&
         (ScalarOf(reader.input(0)) || ScalarOf(reader.input(1)));
}

// Returns x if its rank is that of `result`. Otherwise returns x reshaped to `result`, which has more or
// fewer leading dims of 1.
Value* WithRank(Rewrite& r, Value* x, const Shape& result) {
  const Shape& own = x->type.shape;
  return own.ranked && result.ranked && own.rank() == result.rank() ? x : ViewAs(r, x, result);
}

// Replaces the root, which computes factor * left * right. `left` or `right` must be the gate, and the gate
// must have no other reader.
bool ReplaceByGelu(Rewrite& r, double factor, Value* left, Value* right) {
  auto gate = GateOf(right);
  if (!gate) {
    std::swap(left, right);
    gate = GateOf(right);
  }
  if (!gate) return r.Skip("no factor is a number plus Erf or Tanh that is read nowhere else");
  const Scaled x = PeelFactor(left);
  // The argument of GELU is `left` itself, or a value y with left = number * y.
  for (const Scaled& candidate : {Scaled{1, left}, x}) {
    const DType dtype = candidate.value->type.dtype;
    const char* formula = FormulaOf(*gate->function, candidate.value);
    if (!formula) continue;
    const double outer = factor * candidate.factor, scale = 2 * outer * gate->shift;
    if (scale == 0 || !Near(gate->slope, gate->shift, dtype))
      return r.Skip("the gate is ", outer * gate->shift, " + ", outer * gate->slope,
                    " * function, expected two equal numbers other than 0");
    Value* in = WithRank(r, candidate.value, r.root().output(0)->type.shape);
    if (!in) return r.Skip("the dims are not known");
    Value* gelu = r.Op("Gelu", {in}, {{"approximate", std::string(formula)}});
    if (Near(scale, 1, dtype)) return r.Replace(gelu);
    // Emits a factor other than 1 as a Mul. The factor is not 1 if another rule has folded a part of it into
    // the weights of the next node.
    if (ScaledNext(r.root().output(0))) return r.Skip("the only reader multiplies or divides by a number");
    return r.Replace(r.Op("Binary", {gelu, r.Scalar(dtype, scale)}, {{"kind", std::string("mul")}}));
  }
  return r.Skip("the argument of ", KindName(*gate->function), " is not GELU's");
}

bool RecomposeGeluAt(Rewrite& r) {
  const Node& root = r.root();
  if (!IsFloatValue(root.output(0))) return r.Skip("the type is not a float");
  // In (x * gate) * 0.5 and (x * gate) / 2, the product with the gate is an operand of the root.
  for (int side : {0, 1}) {
    const auto number = ScalarOf(root.input(side));
    if (!number || (side == 0 && KindName(root) == "div")) continue;
    const Node* product = MadeBy(root.input(1 - side), "Binary", "mul");
    if (!product || !OnlyUse(root.input(1 - side))) return r.Skip("there is no product of two values");
    const double factor = KindName(root) == "div" ? 1 / *number : *number;
    return ReplaceByGelu(r, factor, product->input(0), product->input(1));
  }
  if (KindName(root) == "div") return r.Skip("there is no division by a number");
  return ReplaceByGelu(r, 1, root.input(0), root.input(1));
}

}  // namespace

TERN_RULE(RecomposeGelu) {
  return Rule{
      .summary =
          "x * (1 + erf(x / sqrt(2))) / 2 is GELU, and so is the tanh formula, in any order of operations",
      .level = Level::kExtended,
      .roots = {"Binary:mul", "Binary:div"},
      .apply = RecomposeGeluAt,
      .example = R"(graph @gelu(%x: f32[N,768]) -> (%y) {
  #half: f32[] = (0.5)  #one: f32[] = (1)  #root: f32[] = (1.4142135)
  %y = (%x * #half) * (Erf(%x / #root) + #one)
})"};
}

}  // namespace tern
