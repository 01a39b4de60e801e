// Converts padding, and the rearrangement of blocks.
#include <algorithm>

#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

Value* PadTo(Emit& e, Value* x, const std::vector<int64_t>& pads, const char* mode, Value* value) {
  return e.b.Op("Pad", {x, e.b.Ints(pads), value}, {{"mode", mode}});
}

// Returns the pads of a tuple ((before, after), …) of all axes in Tern's order.
Result<std::vector<int64_t>> PairsOf(MindNode& n, const Item* item) {
  std::vector<int64_t> pads;
  const auto longs = item ? LongsOf(*item) : std::nullopt;
  if (longs) {
    for (const size_t k : {0, 1})
      for (size_t i = k; i < longs->size(); i += 2) pads.push_back((*longs)[i]);
    return pads;
  }
  if (!item || !item->is(Item::Kind::kTuple)) return n.NotYet("paddings that the model computes");
  for (const size_t k : {0, 1})
    for (size_t i = 0; i < item->size(); ++i) {
      const auto pair = LongsOf((*item)[i]);
      if (!pair || pair->size() != 2) return n.Bad("the paddings of axis ", i, " are not two integers");
      pads.push_back((*pair)[k]);
    }
  return pads;
}

Status Pad(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  TERN_ASSIGN(const auto pads, PairsOf(n, n.Arg(n.kAttribute, {"paddings"})));
  Emit e(n);
  n.Out(PadTo(e, n.In(0), pads, "constant", nullptr));
  return {};
}

Status MirrorPad(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_ASSIGN(const auto pads, PairsOf(n, n.Arg(1, {"paddings"})));
  const std::string mode = n.Text(n.kAttribute, {"mode"}, "reflect");
  if (mode != "reflect") return n.NotYet("mode ", mode);
  Emit e(n);
  n.Out(PadTo(e, n.In(0), pads, "reflect", nullptr));
  return {};
}

// Returns pads of all axes. MindSpore lists (before, after) from the last axis to the first.
Result<std::vector<int64_t>> LastFirst(MindNode& n, const std::vector<int64_t>& listed) {
  TERN_TRY(RequireRank(n, 0, 0));
  const auto rank = static_cast<size_t>(n.RankOf(0));
  if (listed.size() % 2 || listed.size() > 2 * rank)
    return n.Bad(listed.size(), " paddings for a tensor of rank ", rank);
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < listed.size() / 2; ++i) {
    pads[rank - 1 - i] = listed[2 * i];
    pads[2 * rank - 1 - i] = listed[2 * i + 1];
  }
  return pads;
}

// Inputs: x, paddings, value. Refuses paddings_contiguous = False, which lists the pads in another order.
Status PadV3(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  if (!n.Bool(n.kAttribute, {"paddings_contiguous"}, true)) return n.NotYet("paddings_contiguous = False");
  TERN_ASSIGN(const auto pads, LastFirst(n, n.Ints(1, {"paddings"}, {})));
  const std::string mode = n.Text(n.kAttribute, {"mode"}, "constant");
  const char* tern = mode == "constant"  ? "constant"
                     : mode == "reflect" ? "reflect"
                     : mode == "edge"    ? "edge"
                                         : "wrap";
  if (mode != tern && mode != "circular") return n.NotYet("mode ", mode);
  Emit e(n);
  Value* value =
      mode == "constant" && n.Has(2) ? e.Reshape(e.Cast(n.In(2), n.In(0)->type.dtype), {}) : nullptr;
  n.Out(PadTo(e, n.In(0), pads, tern, value));
  return {};
}

Converter PadLast(const char* mode) {
  return [mode](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    TERN_ASSIGN(const auto pads, LastFirst(n, n.Ints(1, {"padding"}, {})));
    Emit e(n);
    Value* value = n.Has(2) ? e.Reshape(e.Cast(n.In(2), n.In(0)->type.dtype), {}) : nullptr;
    n.Out(PadTo(e, n.In(0), pads, mode, value));
    return {};
  };
}

Status SpaceToDepth(MindNode& n) {
  n.Out(n.b.Op("SpaceToDepth", {n.In(0)}, {{"block", n.Int(n.kAttribute, {"block_size"}, 1)}}));
  return {};
}

Status DepthToSpace(MindNode& n) {
  n.Out(n.b.Op("DepthToSpace", {n.In(0)},
               {{"block", n.Int(n.kAttribute, {"block_size"}, 1)}, {"mode", "DCR"}}));
  return {};
}

// x [N, C·r·r, H, W] as [N, C, H·r, W·r].
Status PixelShuffle(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 4, 4));
  n.Out(n.b.Op("DepthToSpace", {n.In(0)}, {{"block", n.Int(1, {"upscale_factor"}, 1)}, {"mode", "CRD"}}));
  return {};
}

// [N, C, …] with the channels of all groups interleaved.
Status ChannelShuffle(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 3));
  Emit e(n);
  const int64_t group = n.Int(n.kAttribute, {"group"}, 1);
  const Dim channels = n.In(0)->type.shape[1];
  if (group < 1 || !channels.known() || channels.value() % group)
    return n.Bad(channels.ToString(), " channels in ", group, " groups");
  Value* x = n.In(0);
  Value* batch = e.SizeOf(x, 0);
  Value* split = e.ReshapeTo(x, e.Concat({batch, n.b.Ints({group, channels.value() / group, -1})}, 0));
  n.Out(e.ReshapeTo(e.Transpose(split, {0, 2, 1, 3}), e.ShapeOf(x)));
  return {};
}

// The block sizes, and the crops or paddings, of SpaceToBatch and BatchToSpace for [N, C, H, W].
struct Blocks {
  std::vector<int64_t> sizes, edges;  // `edges` is: before axis 0, after axis 0, before axis 1, …
};
Result<Blocks> BlocksOf(MindNode& n, Names edges) {
  TERN_TRY(RequireRank(n, 0, 4, 4));
  Blocks blocks;
  blocks.sizes = n.Ints(1, {"block_size", "block_shape"}, {1});
  if (blocks.sizes.size() == 1) blocks.sizes.push_back(blocks.sizes[0]);
  const Item* item = n.Arg(2, edges);
  for (size_t i = 0; item && item->is(Item::Kind::kTuple) && i < item->size(); ++i) {
    const auto pair = LongsOf((*item)[i]);
    if (pair) blocks.edges.insert(blocks.edges.end(), pair->begin(), pair->end());
  }
  if (blocks.sizes.size() != 2 || blocks.edges.size() != 4 || blocks.sizes[0] < 1 || blocks.sizes[1] < 1 ||
      blocks.sizes[0] > 4096 || blocks.sizes[1] > 4096)
    return n.NotYet("blocks of another rank than 2");
  return blocks;
}

// Returns whether products of a few dims and block sizes cannot overflow.
bool Small(const Shape& shape) {
  if (!shape.fully_known()) return false;
  return std::all_of(shape.dims.begin(), shape.dims.end(),
                     [](const Dim& d) { return d.value() < int64_t{1} << 31; });
}

Status SpaceToBatch(MindNode& n) {
  TERN_ASSIGN(const Blocks blocks, BlocksOf(n, {"paddings"}));
  Emit e(n);
  const auto& p = blocks.edges;
  Value* x = PadTo(e, n.In(0), {0, 0, p[0], p[2], 0, 0, p[1], p[3]}, "constant", nullptr);
  const Shape& s = x->type.shape;
  if (!Small(s)) return n.NotYet("a shape that is not known or too large");
  const int64_t bh = blocks.sizes[0], bw = blocks.sizes[1], c = s[1].value(), h = s[2].value() / bh,
                w = s[3].value() / bw;
  x = e.Transpose(e.Reshape(x, {s[0].value(), c, h, bh, w, bw}), {3, 5, 0, 1, 2, 4});
  n.Out(e.Reshape(x, {s[0].value() * bh * bw, c, h, w}));
  return {};
}

Status BatchToSpace(MindNode& n) {
  TERN_ASSIGN(const Blocks blocks, BlocksOf(n, {"crops"}));
  Emit e(n);
  const Shape& s = n.In(0)->type.shape;
  if (!Small(s)) return n.NotYet("a shape that is not known or too large");
  const int64_t bh = blocks.sizes[0], bw = blocks.sizes[1], c = s[1].value(), h = s[2].value(),
                w = s[3].value();
  const int64_t batch = s[0].value() / (bh * bw);
  Value* x = e.Transpose(e.Reshape(n.In(0), {bh, bw, batch, c, h, w}), {2, 3, 4, 0, 5, 1});
  x = e.Reshape(x, {batch, c, h * bh, w * bw});
  const auto& p = blocks.edges;
  for (const int64_t edge : p)
    if (edge < 0 || edge > int64_t{1} << 31) return n.Bad("a crop of ", edge);
  x = e.Slice(e.Slice(x, p[0], h * bh - p[1], 2), p[2], w * bw - p[3], 3);
  n.Out(x);
  return {};
}

}  // namespace

TERN_CONVERTERS(pad) {
  table.Add("Pad", Pad);
  table.Add("MirrorPad", MirrorPad);
  table.Add("PadV3", PadV3);
  table.Add("ConstantPadND", PadLast("constant"));
  for (const char* name : {"ReflectionPad1D", "ReflectionPad2D", "ReflectionPad3D"})
    table.Add(name, PadLast("reflect"));
  for (const char* name : {"ReplicationPad1D", "ReplicationPad2D", "ReplicationPad3D"})
    table.Add(name, PadLast("edge"));
  table.Add("SpaceToDepth", SpaceToDepth);
  table.Add("DepthToSpace", DepthToSpace);
  table.Add("PixelShuffle", PixelShuffle);
  table.Add("ChannelShuffle", ChannelShuffle);
  for (const char* name : {"SpaceToBatch", "SpaceToBatchND"}) table.Add(name, SpaceToBatch);
  for (const char* name : {"BatchToSpace", "BatchToSpaceND", "BatchToSpaceNDV2"})
    table.Add(name, BatchToSpace);
}

}  // namespace tern::mindir
