// Fuses x * scale + bias with constant vectors along one axis into Scale.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns the axis of x along which the constant has more than one element. Returns -1 if there is not
// exactly one such axis.
int AxisOfVector(const Value* constant, const Value* x) {
  if (!constant->is_constant() || !BroadcastsInto(constant, x)) return -1;
  const Tensor& t = constant->constant;
  const int rank = x->type.shape.rank();
  int axis = -1;
  for (int i = 0; i < t.rank(); ++i) {
    if (t.dim(i) == 1) continue;
    if (axis >= 0) return -1;
    axis = i + rank - t.rank();
  }
  return axis;
}

// Fuses x * #scale + #bias, with both constants along the same axis.
bool ToScale(Rewrite& r) {
  Node& root = r.root();
  const bool adds = IsOp(root, "Binary", "add");
  const int at = root.input(0)->is_constant() ? 0 : 1;
  if (!adds && at == 0) return r.Skip("the constant is the first operand");
  Value *product = root.input(1 - at), *bias = root.input(at);
  Node* mul = MadeBy(product, "Binary", "mul");
  if (!mul) return r.Skip("'", product->name, "' is not a product");
  if (!OnlyUse(product)) return r.Skip("'", product->name, "' is also read by another node");
  if (!IsFloatValue(product)) return r.Skip("the type is not a float");
  const int from = mul->input(0)->is_constant() ? 0 : 1;
  Value *x = mul->input(1 - from), *scale = mul->input(from);
  const int axis = AxisOfVector(scale, x);
  if (axis < 0 || AxisOfVector(bias, x) != axis)
    return r.Skip("the constants are not vectors along one axis");
  const auto vector = [&](Value* v) { return r.Op("Reshape", {v, r.Ints({-1})}); };
  if (!adds) bias = r.Op("Unary", {bias}, {{"kind", "neg"}});
  return r.Replace(r.Op("Scale", {x, vector(scale), vector(bias)}, {{"axis", static_cast<int64_t>(axis)}}));
}

}  // namespace

TERN_RULE(FuseMulAddIntoScale) {
  return Rule{
      .summary = "x * scale + bias with constant vectors along one axis is a Scale",
      .level = Level::kExtended,
      .roots = {"Binary:add", "Binary:sub"},
      .apply = ToScale,
      .example =
          R"(graph @g(%x: f32[N,2]) -> (%y) { #a: f32[2] = (2, 3) #b: f32[2] = (3, 4) %y = %x * #a + #b })"};
}

}  // namespace tern
