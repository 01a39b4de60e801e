// Replaces Conv by forms that some back ends run faster. These forms need more nodes, so the rules run on
// request only.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

constexpr int64_t kMaxGroups = 32;

Value* Part(Rewrite& r, Value* v, int64_t axis, int64_t from, int64_t size) {
  return r.Op("Slice", {v, r.Ints({from}), r.Ints({from + size}), r.Ints({axis})});
}

bool SplitGroups(Rewrite& r) {
  Node& conv = r.root();
  const int64_t group = conv.attrs.Int("group");
  Value* w = conv.input(1);
  if (group == 1) return r.Skip("the Conv has one group");
  if (!w->is_constant()) return r.Skip("the weights are not constant");
  const Dims dims = w->constant.dims();
  if (dims[1] == 1) return r.Skip("the Conv is depthwise");
  if (group > kMaxGroups) return r.Skip("the Conv has more than ", kMaxGroups, " groups");
  if (!NoEpilogue(conv)) return r.Skip("the Conv has a residual or an activation");
  if (conv.input(2) && !conv.input(2)->is_constant()) return r.Skip("the bias is not constant");
  Attrs attrs = conv.attrs;
  SetAttr(attrs, "group", int64_t{1});
  const int64_t channels = dims[0] / group;  // output channels of a group
  std::vector<Value*> parts;
  for (int64_t g = 0; g < group; ++g)
    parts.push_back(
        r.Op(*conv.op, attrs,
             {Part(r, conv.input(0), 1, g * dims[1], dims[1]), Part(r, w, 0, g * channels, channels),
              conv.input(2) ? Part(r, conv.input(2), 0, g * channels, channels) : nullptr}));
  return r.Replace(r.Op("Concat", parts, {{"axis", int64_t{1}}}));
}

std::vector<int64_t> WithoutFirst(const std::vector<int64_t>& list) {
  return list.empty() ? list : std::vector<int64_t>(list.begin() + 1, list.end());
}

// Replaces a Conv of [N, C, 1, H, W] with a kernel of depth 1 by a 2-D Conv of [N, C, H, W].
bool DropDepth(Rewrite& r) {
  Node& conv = r.root();
  Value *x = conv.input(0), *w = conv.input(1);
  if (!w->is_constant() || w->constant.rank() != 5)
    return r.Skip("the node is not a Conv over three axes with constant weights");
  if (x->type.shape.rank() != 5 || !x->type.shape[2].Is(1) || w->constant.dim(2) != 1)
    return r.Skip("the depth is not known to be 1");
  const auto pads = conv.attrs.Ints("pads");
  if (!pads.empty() && (pads[0] || pads[3])) return r.Skip("the depth is padded");
  if (conv.input(3)) return r.Skip("the Conv has a residual");
  Attrs attrs = conv.attrs;
  for (const char* name : {"strides", "dilations"}) SetAttr(attrs, name, WithoutFirst(attrs.Ints(name)));
  if (!pads.empty()) SetAttr(attrs, "pads", std::vector<int64_t>{pads[1], pads[2], pads[4], pads[5]});
  Value* axis = r.Ints({2});
  Value* plane =
      r.Op(*conv.op, attrs, {r.Op("Squeeze", {x, axis}), r.Op("Squeeze", {w, axis}), conv.input(2)});
  return r.Replace(r.Op("Unsqueeze", {plane, axis}));
}

}  // namespace

TERN_RULE(SplitGroupedConv) {
  return Rule{
      .summary = "a grouped Conv becomes a Slice and a Conv for each group, and a Concat of their results",
      .level = Level::kExtended,
      .on_request = true,
      .roots = {"Conv"},
      .apply = SplitGroups,
      .example = R"(graph @g(%x: f32[N,4,H]) -> (%y) {
  #w: f32[2,2,1] = (1, 2, 3, 4)
  %y = Conv(%x, #w) {group=2}
})"};
}
TERN_RULE(ReplaceFlatConv3d) {
  return Rule{.summary = "a 3-D Conv over a depth of 1 becomes a 2-D Conv",
              .level = Level::kExtended,
              .on_request = true,
              .roots = {"Conv"},
              .apply = DropDepth,
              .example = R"(graph @g(%x: f32[N,1,1,H,W]) -> (%y) {
  #w: f32[1,1,1,1,2] = (1, 2)
  %y = Conv(%x, #w)
})"};
}

}  // namespace tern
