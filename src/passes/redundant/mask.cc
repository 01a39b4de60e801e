// Removes masks of Attention that hide no key.
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

enum { kQ = 0, kK = 1, kMask = 3, kPastK = 4 };

// True if the mask has a column for each key. Keys beyond the last of several columns are hidden.
bool CoversKeys(const Node& node) {
  const Shape& mask = node.input(kMask)->type.shape;
  if (mask.rank() == 0 || mask[-1].Is(1)) return true;
  if (node.input(kPastK)) return false;
  const Shape& keys = node.input(node.attrs.Bool("joint") ? kQ : kK)->type.shape;
  return keys.rank() >= 2 && keys[-2] == mask[-1];
}

bool RemoveNeutralMask(Rewrite& r) {
  const Node& node = r.root();
  const Value* mask = node.input(kMask);
  if (!mask) return r.Skip("there is no mask");
  const auto element = UniformOf(mask);
  const double neutral = mask->type.dtype == DType::kBool ? 1 : 0;
  if (!element || *element != neutral) return r.Skip("the mask is not a constant that hides nothing");
  if (!CoversKeys(node)) return r.Skip("the mask may have fewer columns than there are keys");
  std::vector<Value*> inputs = node.inputs();
  inputs[kMask] = nullptr;
  return r.Replace(r.Ops(*node.op, node.attrs, inputs, static_cast<int>(node.outputs().size())));
}

}  // namespace

TERN_RULE(RemoveNeutralMask) {
  return Rule{.summary = "a mask of Attention that is true for all keys, or adds 0 to all scores, is removed",
              .roots = {"Attention"},
              .apply = RemoveNeutralMask,
              .example = R"(graph @g(%q: f32[N,2,3,4], %k: f32[N,2,3,4], %v: f32[N,2,3,4]) -> (%y) {
  #mask: bool[1,1,1,3] = (true, true, true)
  %y = Attention(%q, %k, %v, #mask)
})"};
}

}  // namespace tern
