// Recomposes LayerNorm and RmsNorm.
#include "passes/recompose/moments.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Describes a root that computes x / sqrt(under.variance + under.epsilon).
struct Normalised {
  Value* x = nullptr;
  Stabilised under;
};

std::optional<Normalised> Over(Value* x, Value* under) {
  const auto parts = under ? StabilisedOf(under) : std::nullopt;
  return parts ? std::optional<Normalised>({x, *parts}) : std::nullopt;
}

std::optional<Normalised> NormalisedAt(const Node& root) {
  Value *a = root.input(0), *b = root.input(1);
  if (KindName(root) == "div") return OnlyUse(b) ? Over(a, UnderRoot(b)) : std::nullopt;
  for (const auto& [x, factor] : {std::pair(a, b), std::pair(b, a)})
    if (Value* under = OnlyUse(factor) ? UnderInverseRoot(factor) : nullptr) return Over(x, under);
  return std::nullopt;
}

std::optional<Normalised> Find(Rewrite& r) {
  const auto parts = NormalisedAt(r.root());
  if (!parts || !IsFloatValue(r.root().output(0))) {
    r.Skip("the node is not x / sqrt(v + epsilon)");
    return std::nullopt;
  }
  if (!parts->x->type.shape.ranked) {
    r.Skip("the rank is not known");
    return std::nullopt;
  }
  return parts;
}

constexpr const char* kOtherSquares =
    "the value under the root is not the mean square of the dividend, or is read elsewhere";

bool RecomposeLayerNormAt(Rewrite& r) {
  const auto found = Find(r);
  if (!found) return false;
  if (const auto variance = VarianceOf(found->under.variance)) {
    if (CentredOf(found->x, variance->axes) != variance->x)
      return r.Skip("the dividend is not the value minus its mean over the same axes");
    return r.Replace(EmitNorm(r, "LayerNorm", variance->x, variance->axes, found->under.epsilon));
  }
  const auto squares = MeanSquareOf(found->under.variance);
  if (!squares || squares->x != found->x) return r.Skip(kOtherSquares);
  return r.Skip("the mean over the same axes is not subtracted first");
}

bool RecomposeRmsNormAt(Rewrite& r) {
  const auto found = Find(r);
  if (!found) return false;
  const auto squares = MeanSquareOf(found->under.variance);
  if (!squares || squares->x != found->x) return r.Skip(kOtherSquares);
  if (CentredOf(found->x, squares->axes)) return r.Skip("the mean is subtracted, so this is a LayerNorm");
  if (!AreLastAxes(squares->axes, found->x->type.shape.rank()))
    return r.Skip("the axes are not the last axes");
  return r.Replace(EmitNorm(r, "RmsNorm", found->x, squares->axes, found->under.epsilon));
}

}  // namespace

TERN_RULE(RecomposeLayerNorm) {
  return Rule{
      .summary =
          "(x - mean) / sqrt(variance + epsilon) is LayerNorm; Transposes move the normalised axes to the end "
          "if they are not the last axes",
      .level = Level::kExtended,
      .roots = {"Binary:div", "Binary:mul"},
      .apply = RecomposeLayerNormAt,
      .example = R"(graph @norm(%x: f32[N,128,768]) -> (%y) {
  #two: f32[] = (2)  #eps: f32[] = (1e-5)  #axes: i64[1] = (-1)
  %d = %x - ReduceMean(%x, #axes)
  %y = %d / Sqrt(ReduceMean(Pow(%d, #two), #axes) + #eps)
})"};
}

TERN_RULE(RecomposeRmsNorm) {
  return Rule{.summary = "x / sqrt(mean(x * x) + epsilon) is RmsNorm",
              .level = Level::kExtended,
              .roots = {"Binary:div", "Binary:mul"},
              .apply = RecomposeRmsNormAt,
              .example = R"(graph @norm(%x: f32[N,128,768]) -> (%y) {
  #two: f32[] = (2)  #eps: f32[] = (1e-6)  #axes: i64[1] = (-1)
  %y = %x * Reciprocal(Sqrt(ReduceMean(Pow(%x, #two), #axes) + #eps))
})"};
}

}  // namespace tern
