// Fuses an Add after a Conv, ConvTranspose or MatMul into the epilogue of that op, as the residual.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool HasEpilogue(const Node& node) { return node.op->Is(kEpilogue); }

// LaterThan searches at most this many nodes before the root.
constexpr int kSearchLimit = 200;

// Returns true if `a` comes after `b` in the order of nodes. Returns nullopt if neither is among the last
// kSearchLimit nodes before `root`.
std::optional<bool> LaterThan(const Node& root, const Node* a, const Node* b) {
  const Node* at = &root;
  for (int i = 0; i < kSearchLimit; ++i) {
    at = at->graph->Before(*at);
    if (!at) break;
    if (at == a) return true;
    if (at == b) return false;
  }
  return std::nullopt;
}

// Returns false if the fusion would need more memory. The fused op runs at the position of the Add. If
// `other` is produced between `maker` and the Add, the input of `maker` must stay in memory until the Add,
// instead of the output of `maker`. This needs more memory if the input is larger than the output and has no
// other reader.
bool KeepsMemory(Rewrite& r, const Node& maker, const Value* other) {
  if (!other->producer || other->graph != &r.graph()) return true;
  if (LaterThan(r.root(), &maker, other->producer).value_or(false)) return true;
  const auto in = CountOf(maker.input(0)), out = CountOf(maker.output(0));
  if (OnlyUse(maker.input(0)) && in && out && *in > *out)
    return r.Skip("'", maker.input(0)->name, "' would live longer, and is larger than the result");
  return true;
}

bool CanTake(Rewrite& r, Value* sums, Value* other) {
  const Node* maker = sums->producer;
  if (!maker || !HasEpilogue(*maker)) return r.Skip("no operand is made by Conv, ConvTranspose or MatMul");
  if (!OnlyUse(sums)) return r.Skip("'", sums->name, "' is also read by another node");
  if (maker->graph != &r.graph()) return r.Skip("'", sums->name, "' is made outside of this graph");
  if (!maker->attrs.Has("activation")) return r.Skip(maker->op->name, " does not support a residual");
  if (!NoEpilogue(*maker)) return r.Skip(maker->op->name, " has a residual or an activation");
  if (!IsFloatValue(sums)) return r.Skip("the type is not a float");
  if (other->type.dtype != sums->type.dtype)
    return r.Skip("'", other->name, "' is not known to have the type of '", sums->name, "'");
  if (!BroadcastsInto(other, sums))
    return r.Skip("'", other->name, "' does not provably broadcast into '", sums->name, "'");
  return KeepsMemory(r, *maker, other);
}

bool Fuse(Rewrite& r, const char* op) {
  Value *a = r.root().input(0), *b = r.root().input(1);
  if (a == b) return r.Skip("a value is added to itself");
  const bool left = CanTake(r, a, b), right = CanTake(r, b, a);
  if (!left && !right) {
    // Report the reason for the operand that is a Conv or MatMul.
    if (a->producer && HasEpilogue(*a->producer)) CanTake(r, a, b);
    return false;
  }
  // If both operands can be fused, fuse the operand that is computed later, because the other operand is then
  // already available as its residual.
  const bool take_left = left && (!right || LaterThan(r.root(), a->producer, b->producer).value_or(false));
  Value *sums = take_left ? a : b, *other = take_left ? b : a;
  const Node& maker = *sums->producer;
  if (!IsOp(maker, op)) return r.Skip("'", sums->name, "' is not made by ", op);
  return r.Replace(r.Op(*maker.op, maker.attrs, {maker.input(0), maker.input(1), maker.input(2), other}));
}

}  // namespace

TERN_RULE(FuseResidualIntoMatMul) {
  return Rule{
      .summary = "a tensor added to a MatMul becomes its residual",
      .level = Level::kExtended,
      .roots = {"Binary:add"},
      .apply = [](Rewrite& r) { return Fuse(r, "MatMul"); },
      .example =
          R"(graph @g(%x: f32[N,K], %w: f32[K,M], %z: f32[N,M]) -> (%y) { %y = MatMul(%x, %w) + %z })"};
}
TERN_RULE(FuseResidualIntoConv) {
  return Rule{.summary = "a tensor added to a Conv becomes its residual",
              .level = Level::kExtended,
              .roots = {"Binary:add"},
              .apply = [](Rewrite& r) { return Fuse(r, "Conv"); },
              .example = R"(graph @g(%x: f32[N,8,H], %w: f32[8,8,1]) -> (%y) { %y = %x + Conv(%x, %w) })"};
}
TERN_RULE(FuseResidualIntoConvTranspose) {
  return Rule{
      .summary = "a tensor added to a ConvTranspose becomes its residual",
      .level = Level::kExtended,
      .roots = {"Binary:add"},
      .apply = [](Rewrite& r) { return Fuse(r, "ConvTranspose"); },
      .example = R"(graph @g(%x: f32[N,8,H], %w: f32[8,8,1]) -> (%y) { %y = %x + ConvTranspose(%x, %w) })"};
}

}  // namespace tern
