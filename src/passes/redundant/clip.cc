// Merges and simplifies Clip, Relu, and Min or Max with constants.
#include <cmath>
#include <limits>

#include "base/below.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// True if a double represents all values of the type exactly.
bool ExactInDouble(const Value* v) {
  return IsFloatValue(v) || (v->type.tensor() && IsInt(v->type.dtype) && BitWidth(v->type.dtype) <= 32);
}

struct Bounds {
  double low = -kInf, high = kInf;
  double Apply(double v) const {
    const double least = Below(v, low) ? low : v;
    return Below(high, least) ? high : least;
  }
  friend bool operator==(const Bounds& a, const Bounds& b) {
    return !Below(a.low, b.low) && !Below(b.low, a.low) && !Below(a.high, b.high) && !Below(b.high, a.high);
  }
};

std::optional<Bounds> BoundsOf(const Node& node) {
  Bounds b;
  if (IsOp(node, "Unary", "relu")) {
    b.low = 0;
    return b;
  }
  if (!IsOp(node, "Clip")) return std::nullopt;
  for (int i : {1, 2}) {
    if (!node.input(i)) continue;
    const auto bound = ScalarOf(node.input(i));
    if (!bound || *bound != *bound) return std::nullopt;
    (i == 1 ? b.low : b.high) = *bound;
  }
  return b;
}

// True if the bounds are +0 and infinity. False for a lower bound of -0, because Relu(-0) is +0.
bool IsRelu(const Bounds& b) { return b == Bounds{0, kInf}; }

Value* EmitBounds(Rewrite& r, Value* x, const Bounds& b) {
  if (IsRelu(b)) return r.Op("Unary", {x}, {{"kind", "relu"}});
  const DType t = x->type.dtype;
  Value* low = b.low == -kInf ? nullptr : r.Scalar(t, b.low);
  if (b.high == kInf) return r.Op("Clip", {x, low});
  return r.Op("Clip", {x, low, r.Scalar(t, b.high)});
}

bool MergeClips(Rewrite& r) {
  Value* v = r.root().input(0);
  const auto outer = BoundsOf(r.root()), inner = v->producer ? BoundsOf(*v->producer) : std::nullopt;
  if (!outer || !inner)
    return r.Skip("its input is not made by Clip or Relu, or the bounds are not constant");
  if (!ExactInDouble(v)) return r.Skip("a double cannot represent all values of the type");
  // Two consecutive Clips equal one Clip. Its bounds are the inner bounds, clamped to the outer
  // bounds.
  const Bounds both{outer->Apply(inner->low > inner->high ? inner->high : inner->low),
                    outer->Apply(inner->high)};
  if (both == *inner) return r.Replace(v);
  if (!OnlyUse(v)) return r.Skip("the inner Clip or Relu is also read by another node");
  return r.Replace(EmitBounds(r, v->producer->input(0), both));
}

bool SimplifyClip(Rewrite& r) {
  const auto b = BoundsOf(r.root());
  if (!b) return r.Skip("the bounds are not constant");
  Value* x = r.root().input(0);
  if (b->low == -kInf && b->high == kInf) return r.Replace(x);
  if (IsRelu(*b) && ExactInDouble(x)) return r.Replace(EmitBounds(r, x, *b));
  return r.Skip("the bounds are not 0 and infinity");
}

bool MinMaxToClip(Rewrite& r) {
  const Node& node = r.root();
  const bool second = ScalarOf(node.input(1)).has_value();
  const auto bound = ScalarOf(node.input(second ? 1 : 0));
  Value* x = node.input(second ? 0 : 1);
  if (!bound || *bound != *bound) return r.Skip("no operand is a constant number");
  if (!ExactInDouble(x)) return r.Skip("a double cannot represent all values of the type");
  if (!SameShape(x, node.output(0))) return r.Skip("the constant changes the shape");
  Bounds b;
  (KindName(node) == "max" ? b.low : b.high) = *bound;
  if (b == Bounds{}) return r.Replace(x);
  return r.Replace(EmitBounds(r, x, b));
}

}  // namespace

TERN_RULE(MergeClips) {
  return Rule{.summary = "consecutive Clip and Relu are one Clip or Relu",
              .roots = {"Clip", "Unary:relu"},
              .apply = MergeClips,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) {
  #low: f32[] = (-1)  #high: f32[] = (6)
  %y = Clip(Relu(%x), #low, #high)
})"};
}

TERN_RULE(SimplifyClip) {
  return Rule{.summary = "a Clip without bounds is removed, a Clip with only a lower bound of 0 is Relu",
              .roots = {"Clip"},
              .apply = SimplifyClip,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { #low: f32[] = (0) %y = Clip(%x, #low) })"};
}

TERN_RULE(ReplaceMinMaxByClip) {
  return Rule{.summary = "Min or Max with a constant number is Clip, or Relu",
              .roots = {"Binary:min", "Binary:max"},
              .apply = MinMaxToClip,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { #six: f32[] = (6) %y = Min(%x, #six) })"};
}

}  // namespace tern
