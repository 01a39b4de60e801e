// Recomposes GroupNorm from an InstanceNorm whose channels are groups. Fuses a Mul or Add with one constant
// per channel into the GroupNorm or InstanceNorm before it.
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// `groups` has one element per group. Returns a vector with the element of its group for each channel.
Tensor PerChannel(const Tensor& groups, int64_t channels) {
  const std::vector<double> from = ToDoubles(groups);
  std::vector<double> values;
  for (int64_t c = 0; c < channels; ++c)
    values.push_back(from[static_cast<size_t>(c * static_cast<int64_t>(from.size()) / channels)]);
  return Tensor::Of(groups.dtype(), {channels}, values);
}

// Replaces Reshape(InstanceNorm(Reshape(x, [batch, groups, -1])), [batch, channels, ...]).
bool RecomposeGroupNormAt(Rewrite& r) {
  const Node& root = r.root();
  const Node* norm = MadeBy(root.input(0), "InstanceNorm");
  const Node* flat = norm ? MadeBy(norm->input(0), "Reshape") : nullptr;
  if (!flat || !OnlyUse(root.input(0)))
    return r.Skip("the input is not an InstanceNorm between reshapes that is read nowhere else");
  const Shape &y = root.output(0)->type.shape, &groups = norm->input(0)->type.shape;
  if (y.rank() < 2 || groups.rank() != 3 || y[0] != groups[0]) return r.Skip("the Reshapes change the batch");
  if (!y[1].known() || !groups[1].known() || groups[1].value() < 1 || y[1].value() % groups[1].value())
    return r.Skip("the groups do not divide the channels");
  if (!norm->input(1)->is_constant() || !norm->input(2)->is_constant())
    return r.Skip("the scales are not constant");
  Value* x = ViewAs(r, flat->input(0), y);
  if (!x) return r.Skip("the shape cannot be expressed with constants");
  const int64_t channels = y[1].value();
  Value* scale = r.Const(PerChannel(norm->input(1)->constant, channels));
  Value* bias = r.Const(PerChannel(norm->input(2)->constant, channels));
  return r.Replace(r.Op("GroupNorm", {x, scale, bias},
                        {{"groups", groups[1].value()}, {"epsilon", double{norm->attrs.Float("epsilon")}}}));
}

// True if the constant w has the shape [channels, 1, …] or [1, channels, 1, …], where dim 1 of x is the
// channels.
bool OnePerChannel(const Match& m) {
  const Shape &x = m.ShapeOf("x"), &w = m.ShapeOf("w");
  if (x.rank() < 2 || !x[1].known()) return m.Skip("the channels are not known");
  if (m.DTypeOf("w") != m.DTypeOf("s") || w.rank() > x.rank() || w.rank() < x.rank() - 1)
    return m.Skip("the constant is not one number per channel");
  for (int i = 1; i <= w.rank(); ++i)
    if (!(x.rank() - i == 1 ? w[-i] == x[1] : w[-i].Is(1)))
      return m.Skip("the constant is not one number per channel");
  return true;
}

void Flatten(Match& m) {
  const Tensor t = m["w"].Contiguous();
  m.Set("v", t.Reshaped({t.size()}));
}

Rule Fuse(const char* summary, const char* pattern, const char* replacement) {
  return Rule{.summary = summary,
              .level = Level::kExtended,
              .match = {pattern},
              .emit = replacement,
              .when = OnePerChannel,
              .compute = Flatten};
}

}  // namespace

TERN_RULE(RecomposeGroupNorm) {
  return Rule{.summary = "InstanceNorm over groups of channels is GroupNorm",
              .level = Level::kExtended,
              .roots = {"Reshape"},
              .apply = RecomposeGroupNormAt,
              .example = R"(graph @norm(%x: f32[2,8,4,4]) -> (%y) {
  #one: f32[2] = (1, 1)  #zero: f32[2] = (0, 0)  #flat: i64[3] = (0, 2, -1)  #shape: i64[4] = (2, 8, 4, 4)
  %y = Reshape(InstanceNorm(Reshape(%x, #flat), #one, #zero), #shape)
})"};
}

TERN_RULE(FuseScaleIntoGroupNorm) {
  return Fuse("GroupNorm times a constant per channel is GroupNorm with other scales",
              "%n = GroupNorm(%x, #s, #b) {@all}  %y = %n * #w",
              "%y = GroupNorm(%x, #s * #v, #b * #v) {@all}");
}

TERN_RULE(FuseBiasIntoGroupNorm) {
  return Fuse("GroupNorm plus a constant per channel is GroupNorm with another bias",
              "%n = GroupNorm(%x, #s, #b) {@all}  %y = %n + #w", "%y = GroupNorm(%x, #s, #b + #v) {@all}");
}

TERN_RULE(FuseScaleIntoInstanceNorm) {
  return Fuse("InstanceNorm times a constant per channel is InstanceNorm with other scales",
              "%n = InstanceNorm(%x, #s, #b) {@all}  %y = %n * #w",
              "%y = InstanceNorm(%x, #s * #v, #b * #v) {@all}");
}

TERN_RULE(FuseBiasIntoInstanceNorm) {
  return Fuse("InstanceNorm plus a constant per channel is InstanceNorm with another bias",
              "%n = InstanceNorm(%x, #s, #b) {@all}  %y = %n + #w",
              "%y = InstanceNorm(%x, #s, #b + #v) {@all}");
}

}  // namespace tern
