// Fuses a scale and a bias into the normalisation before them, and removes Casts around a normalisation.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns the number of normalised axes, or nullopt if the rank is not known.
std::optional<int> Width(const Match& m) {
  const auto axis = AxisOf(m.Int("axis"), m.At("x"));
  return axis ? std::optional<int>(m.Rank("x") - *axis) : std::nullopt;
}

// True if the dims of the constant are the normalised dims of x, with any number of 1s before them.
bool Covers(const Match& m, const char* name) {
  const auto width = Width(m);
  if (!width) return m.Skip("the rank is not known");
  const Shape &x = m.ShapeOf("x"), &w = m.ShapeOf(name);
  if (m.DTypeOf(name) != m.DTypeOf("x")) return m.Skip("the types differ");
  const int rank = w.rank();
  if (rank < *width || rank > x.rank()) return m.Skip("the constant does not cover the normalised axes");
  for (int i = 1; i <= rank; ++i)
    if (!(i <= *width ? w[-i] == x[-i] : w[-i].Is(1)))
      return m.Skip("the constant does not cover the normalised axes");
  return true;
}

// Returns the constant with the dims of the normalised axes only.
Tensor Fitted(const Match& m, const char* name) {
  const Tensor t = m[name].Contiguous();
  return t.Reshaped(Dims(t.dims().end() - *Width(m), t.dims().end()));
}

}  // namespace

TERN_RULE(FuseScaleIntoLayerNorm) {
  return Rule{.summary = "LayerNorm times a constant over the normalised axes is LayerNorm with a scale",
              .level = Level::kExtended,
              .match = {"%n = LayerNorm(%x) {@all, axis=@axis}  %y = %n * #w"},
              .emit = "%y = LayerNorm(%x, #scale) {@all}",
              .when = [](const Match& m) { return Covers(m, "w"); },
              .compute = [](Match& m) { m.Set("scale", Fitted(m, "w")); }};
}

TERN_RULE(FuseBiasIntoLayerNorm) {
  return Rule{.summary = "LayerNorm plus a constant over the normalised axes is LayerNorm with a bias",
              .level = Level::kExtended,
              .match = {"%n = LayerNorm(%x, #s?) {@all, axis=@axis}  %y = %n + #w"},
              .emit = "%y = LayerNorm(%x, #s, #bias) {@all}",
              .when = [](const Match& m) { return Covers(m, "w"); },
              .compute = [](Match& m) { m.Set("bias", Fitted(m, "w")); }};
}

TERN_RULE(FuseScaleIntoRmsNorm) {
  return Rule{.summary = "RmsNorm times a constant over the normalised axes is RmsNorm with a scale",
              .level = Level::kExtended,
              .match = {"%n = RmsNorm(%x) {@all, axis=@axis}  %y = %n * #w"},
              .emit = "%y = RmsNorm(%x, #scale) {@all}",
              .when = [](const Match& m) { return Covers(m, "w"); },
              .compute = [](Match& m) { m.Set("scale", Fitted(m, "w")); }};
}

namespace {

bool Widens(const Match& m) {
  if (m.DTypeOf("x") != m.DTypeOf("y")) return m.Skip("the result has another type than the input");
  const bool half = m.DTypeOf("x") == DType::kF16 || m.DTypeOf("x") == DType::kBF16;
  return half || m.Skip("the input is neither f16 nor bf16");
}

}  // namespace

TERN_RULE(RemoveCastsAroundLayerNorm) {
  return Rule{
      .summary =
          "Casts around a LayerNorm are removed, because LayerNorm computes f16 and bf16 in f32 itself",
      .level = Level::kExtended,
      .match = {"%w = Cast(%x) shared  %n = LayerNorm(%w) {@all}  %y = Cast(%n)"},
      .emit = "%y = LayerNorm(%x) {@all}",
      .when = Widens};
}

TERN_RULE(RemoveCastsAroundRmsNorm) {
  return Rule{
      .summary = "Casts around a RmsNorm are removed, because RmsNorm computes f16 and bf16 in f32 itself",
      .level = Level::kExtended,
      .match = {"%w = Cast(%x) shared  %n = RmsNorm(%w) {@all}  %y = Cast(%n)"},
      .emit = "%y = RmsNorm(%x) {@all}",
      .when = Widens};
}

namespace {

// The constant `w` is a scale or a bias that is applied to the result of a Transpose after a LayerNorm over
// the last axis. True if `w` has more than one element only along the axis to which the Transpose moves the
// last axis. For example, w is [C,1,1] if the Transpose moves the last of four axes to axis 1.
bool HasOneScalePerChannel(const Match& m) {
  if (m.Rank("y") < 0 || m.Int("axis") != -1)
    return m.Skip("the normalised axes are not exactly the last axis");
  const auto perm = m.Ints("perm");
  const int rank = m.Rank("y");
  const auto channel =
      static_cast<int>(std::find(perm.begin(), perm.end(), int64_t{rank - 1}) - perm.begin());
  const Shape &w = m.ShapeOf("w"), &y = m.ShapeOf("y");
  if (m.DTypeOf("w") != m.DTypeOf("x")) return m.Skip("the types differ");
  if (w.rank() < rank - channel || w.rank() > rank)
    return m.Skip("the constant is not one number per channel");
  for (int i = 1; i <= w.rank(); ++i)
    if (!(rank - i == channel ? w[-i] == y[-i] : w[-i].Is(1)))
      return m.Skip("the constant is not one number per channel");
  return true;
}

Tensor Flattened(const Tensor& t) { return t.Contiguous().Reshaped({t.size()}); }

}  // namespace

TERN_RULE(FuseScaleIntoMovedLayerNorm) {
  return Rule{
      .summary = "a scale per channel moves through a Transpose into LayerNorm",
      .level = Level::kExtended,
      .match = {"%n = LayerNorm(%x) {@all, axis=@axis}  %t = Transpose(%n) {perm=@perm}  %y = %t * #w"},
      .emit = "%y = Transpose(LayerNorm(%x, #scale) {@all}) {perm=@perm}",
      .when = HasOneScalePerChannel,
      .compute = [](Match& m) { m.Set("scale", Flattened(m["w"])); }};
}

TERN_RULE(FuseBiasIntoMovedLayerNorm) {
  return Rule{
      .summary = "a bias per channel moves through a Transpose into LayerNorm",
      .level = Level::kExtended,
      .match = {"%n = LayerNorm(%x, #s?) {@all, axis=@axis}  %t = Transpose(%n) {perm=@perm}  %y = %t + #w"},
      .emit = "%y = Transpose(LayerNorm(%x, #s, #bias) {@all}) {perm=@perm}",
      .when = HasOneScalePerChannel,
      .compute = [](Match& m) { m.Set("bias", Flattened(m["w"])); }};
}

}  // namespace tern
