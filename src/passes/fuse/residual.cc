// A tensor added to the sums of a Conv, ConvTranspose or MatMul becomes its residual.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool HoldsSums(const Node& node) { return node.op->Is(kEpilogue); }

// How many nodes before the root are looked at.
constexpr int kFar = 200;

// Whether `a` is made after `b`, looking back from the root. Nothing when neither is near.
std::optional<bool> LaterThan(const Node& root, const Node* a, const Node* b) {
  const Node* at = &root;
  for (int i = 0; i < kFar; ++i) {
    at = at->graph->Before(*at);
    if (!at) break;
    if (at == a) return true;
    if (at == b) return false;
  }
  return std::nullopt;
}

// The sums are computed where the addition is. Where the other term is made in between, what the op reads
// must live on until then in place of its result: that may not be larger.
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
  if (!maker || !HoldsSums(*maker)) return r.Skip("no operand is made by Conv, ConvTranspose or MatMul");
  if (!OnlyUse(sums)) return r.Skip("'", sums->name, "' is also read by another node");
  if (maker->graph != &r.graph()) return r.Skip("'", sums->name, "' is made outside of this graph");
  if (!maker->attrs.Has("activation")) return r.Skip(maker->op->name, " takes no residual");
  if (!NoEpilogue(*maker)) return r.Skip(maker->op->name, " has a residual or an activation");
  if (!IsFloatValue(sums) || other->type.dtype != sums->type.dtype) return r.Skip("the sums are quantized");
  if (!BroadcastsInto(other, sums))
    return r.Skip("'", other->name, "' is not known to fit into '", sums->name, "'");
  return KeepsMemory(r, *maker, other);
}

bool Fuse(Rewrite& r, const char* op) {
  Value *a = r.root().input(0), *b = r.root().input(1);
  if (a == b) return r.Skip("a value is added to itself");
  const bool left = CanTake(r, a, b), right = CanTake(r, b, a);
  if (!left && !right) {
    // The reason that is of interest is the one about a product.
    if (a->producer && HoldsSums(*a->producer)) CanTake(r, a, b);
    return false;
  }
  // Of two, the later: nothing has to wait for the other one then.
  const bool take_left = left && (!right || LaterThan(r.root(), a->producer, b->producer).value_or(false));
  Value *sums = take_left ? a : b, *other = take_left ? b : a;
  const Node& maker = *sums->producer;
  if (!IsOp(maker, op)) return r.Skip("'", sums->name, "' is not made by ", op);
  return r.Replace(r.Op(*maker.op, maker.attrs, {maker.input(0), maker.input(1), maker.input(2), other}));
}

}  // namespace

TERN_RULE(FuseResidualIntoMatMul) {
  return Rule{
      .summary = "a tensor added to a MatMul is added by it",
      .level = Level::kExtended,
      .roots = {"Binary:add"},
      .apply = [](Rewrite& r) { return Fuse(r, "MatMul"); },
      .example =
          R"(graph @g(%x: f32[N,K], %w: f32[K,M], %z: f32[N,M]) -> (%y) { %y = MatMul(%x, %w) + %z })"};
}
TERN_RULE(FuseResidualIntoConv) {
  return Rule{.summary = "a tensor added to a Conv is added by it",
              .level = Level::kExtended,
              .roots = {"Binary:add"},
              .apply = [](Rewrite& r) { return Fuse(r, "Conv"); },
              .example = R"(graph @g(%x: f32[N,8,H], %w: f32[8,8,1]) -> (%y) { %y = %x + Conv(%x, %w) })"};
}
TERN_RULE(FuseResidualIntoConvTranspose) {
  return Rule{
      .summary = "a tensor added to a ConvTranspose is added by it",
      .level = Level::kExtended,
      .roots = {"Binary:add"},
      .apply = [](Rewrite& r) { return Fuse(r, "ConvTranspose"); },
      .example = R"(graph @g(%x: f32[N,8,H], %w: f32[8,8,1]) -> (%y) { %y = %x + ConvTranspose(%x, %w) })"};
}

}  // namespace tern
