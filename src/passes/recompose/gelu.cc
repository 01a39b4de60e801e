// GELU in its spellings.
#include <cmath>
#include <numbers>

#include "passes/recompose/polynomial.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// v = shift + slope * t, where t is made by Erf or Tanh.
struct Bent {
  double shift = 0, slope = 0;
  Node* function = nullptr;
};

std::optional<Bent> BentOf(Value* v) {
  if (!OnlyUse(v)) return std::nullopt;
  const Scaled outer = PeelFactor(v);
  const Node* sum = MadeBy(outer.rest, "Binary", "add");
  if (!sum || !OnlyUse(outer.rest)) return std::nullopt;
  for (int side : {0, 1}) {
    const auto shift = ScalarOf(sum->input(side));
    const Scaled inner = PeelFactor(sum->input(1 - side));
    Node* function = MadeBy(inner.rest, "Unary", "erf");
    if (!function) function = MadeBy(inner.rest, "Unary", "tanh");
    if (!shift || !function || !OnlyUse(inner.rest)) continue;
    return Bent{outer.factor * *shift, outer.factor * inner.factor, function};
  }
  return std::nullopt;
}

// The function's name when the argument is right for a GELU of x.
const char* FormulaOf(const Node& function, const Value* x) {
  const auto argument = PolynomialOf(function.input(0), x);
  if (!argument) return nullptr;
  const DType dtype = x->type.dtype;
  if (IsOp(function, "Unary", "erf")) return Near(*argument, {{1, std::sqrt(0.5)}}, dtype) ? "none" : nullptr;
  const double slope = std::sqrt(2 / std::numbers::pi);
  return Near(*argument, {{1, slope}, {3, slope * 0.044715}}, dtype) ? "tanh" : nullptr;
}

// Multiplied by a number next: that product is the better root.
bool ScaledNext(const Value* v) {
  if (!OnlyUse(v)) return false;
  const Node& reader = *v->uses[0].first;
  return IsOp(reader, "Binary") && (KindName(reader) == "mul" || KindName(reader) == "div") &&
         (ScalarOf(reader.input(0)) || ScalarOf(reader.input(1)));
}

// x with the ones in front that the result has. With as many dims it is as it should be, known or not.
Value* WithRank(Rewrite& r, Value* x, const Shape& result) {
  const Shape& own = x->type.shape;
  return own.ranked && result.ranked && own.rank() == result.rank() ? x : ViewAs(r, x, result);
}

// factor * left * right, in any order; both must be read nowhere else, or be x.
bool ReplaceByGelu(Rewrite& r, double factor, Value* left, Value* right) {
  auto bent = BentOf(right);
  if (!bent) {
    std::swap(left, right);
    bent = BentOf(right);
  }
  if (!bent) return r.Skip("no factor is a number plus Erf or Tanh, read nowhere else");
  const Scaled x = PeelFactor(left);
  // The variable is what the function reads: the factor itself, or what it is a multiple of.
  for (const Scaled& candidate : {Scaled{1, left}, x}) {
    const DType dtype = candidate.rest->type.dtype;
    const char* formula = FormulaOf(*bent->function, candidate.rest);
    if (!formula) continue;
    const double whole = factor * candidate.factor, scale = 2 * whole * bent->shift;
    if (scale == 0 || !Near(bent->slope, bent->shift, dtype))
      return r.Skip("the parts are ", whole * bent->shift, " and ", whole * bent->slope, ", needed is 0.5");
    Value* in = WithRank(r, candidate.rest, r.root().output(0)->type.shape);
    if (!in) return r.Skip("the dims are not known");
    Value* gelu = r.Op("Gelu", {in}, {{"approximate", std::string(formula)}});
    if (Near(scale, 1, dtype)) return r.Replace(gelu);
    // A factor went elsewhere, into the weights that follow for one; what is left of it may follow it.
    if (ScaledNext(r.root().output(0))) return r.Skip("a product with a number comes next");
    return r.Replace(r.Op("Binary", {gelu, r.Scalar(dtype, scale)}, {{"kind", std::string("mul")}}));
  }
  return r.Skip("the argument of ", KindName(*bent->function), " is not GELU's");
}

bool RecomposeGeluAt(Rewrite& r) {
  const Node& root = r.root();
  if (!IsFloatValue(root.output(0))) return r.Skip("not a float");
  // (x * bent) * 0.5 and (x * bent) / 2: one product deeper.
  for (int side : {0, 1}) {
    const auto number = ScalarOf(root.input(side));
    if (!number || (side == 0 && KindName(root) == "div")) continue;
    const Node* product = MadeBy(root.input(1 - side), "Binary", "mul");
    if (!product || !OnlyUse(root.input(1 - side))) return r.Skip("no product of two values");
    const double factor = KindName(root) == "div" ? 1 / *number : *number;
    return ReplaceByGelu(r, factor, product->input(0), product->input(1));
  }
  if (KindName(root) == "div") return r.Skip("no division by a number");
  return ReplaceByGelu(r, 1, root.input(0), root.input(1));
}

}  // namespace

TERN_RULE(RecomposeGelu) {
  return Rule{
      .summary = "x * (1 + erf(x / sqrt(2))) / 2 is GELU, and so is its tanh formula, in any spelling",
      .level = Level::kExtended,
      .roots = {"Binary:mul", "Binary:div"},
      .apply = RecomposeGeluAt,
      .example = R"(graph @gelu(%x: f32[N,768]) -> (%y) {
  #half: f32[] = (0.5)  #one: f32[] = (1)  #root: f32[] = (1.4142135)
  %y = (%x * #half) * (Erf(%x / #root) + #one)
})"};
}

}  // namespace tern
