// Replaces a BatchNorm that was not folded into a Conv by a Scale, which has two constants per channel
// instead of four. Replaces a PReLU with one slope by LeakyReLU.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool ToScale(Rewrite& r) {
  Value* x = r.root().input(0);
  if (x->type.shape.rank() < 2) return r.Skip("the rank is not known, or is 1");
  Affine affine;
  if (!AffineOf(r, r.root(), x->type.dtype, affine)) return false;
  return r.Replace(r.Op("Scale", {x, affine.factor, affine.shift}, {{"axis", int64_t{1}}}));
}

}  // namespace

TERN_RULE(ReplaceBatchNormByScale) {
  return Rule{.summary = "inference BatchNorm is a Scale",
              .level = Level::kExtended,
              .roots = {"BatchNorm"},
              .apply = ToScale,
              .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #s: f32[1] = (1)  #b: f32[1] = (2)  #m: f32[1] = (3)  #v: f32[1] = (4)
  %y = BatchNorm(%x, #s, #b, #m, #v)
})"};
}
TERN_RULE(ReplacePreluByLeakyRelu) {
  return Rule{
      .summary = "PReLU with one slope for all channels is LeakyReLU",
      .level = Level::kExtended,
      .match = {"%y = Prelu(%x, #slope)"},
      .emit = "%y = LeakyRelu(%x) {alpha=@slope}",
      .when =
          [](const Match& m) {
            if (!IsFloatValue(m.At("x"))) return m.Skip("the type is not a float");
            const auto slope = UniformOf(m.At("slope"));
            if (!slope) return m.Skip("the slopes differ");
            if (m.DTypeOf("x") == DType::kF64 && static_cast<double>(static_cast<float>(*slope)) != *slope)
              return m.Skip("the slope is not exact in f32");
            return BroadcastsInto(m.At("slope"), m.At("x")) ||
                   m.Skip("the slopes broadcast the result to a larger shape");
          },
      .compute = [](Match& m) { m.SetAttr("slope", *UniformOf(m.At("slope"))); }};
}

}  // namespace tern
