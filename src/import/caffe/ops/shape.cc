// Converts layers that move elements.
#include <algorithm>
#include <numeric>
#include <set>

#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

Status Concat(Layer& n) {
  const auto& p = n.proto.concat_param();
  if (p.has_axis() && p.has_concat_dim()) return n.Bad("axis and concat_dim are both given");
  TERN_ASSIGN(const int axis, n.Axis(0, p.has_concat_dim() ? int64_t{p.concat_dim()} : int64_t{p.axis()}));
  std::vector<Value*> inputs;
  for (int i = 0; i < n.Bottoms(); ++i) inputs.push_back(n.In(i));
  n.Out(0, n.b.Op("Concat", inputs, {{"axis", axis}}));
  return {};
}

Result<Dims> SliceSizes(const Layer& n, int64_t length) {
  const auto& points = n.proto.slice_param().slice_point();
  if (points.size() == 0) {
    if (length % n.Tops() != 0)
      return n.Bad(length, " elements cannot be split into ", n.Tops(), " equal tops");
    return Dims(static_cast<size_t>(n.Tops()), length / n.Tops());
  }
  if (points.size() != n.Tops() - 1)
    return n.Bad("has ", n.Tops(), " tops, but ", points.size(), " slice points");
  Dims sizes;
  int64_t start = 0;
  for (const uint32_t point : points) {
    sizes.push_back(point - start);
    start = point;
  }
  sizes.push_back(length - start);
  if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 1; }))
    return n.Bad("slice points must increase and be smaller than ", length);
  return sizes;
}

Status Slice(Layer& n) {
  const auto& p = n.proto.slice_param();
  if (p.has_axis() && p.has_slice_dim()) return n.Bad("axis and slice_dim are both given");
  TERN_ASSIGN(const int axis, n.Axis(0, p.has_slice_dim() ? int64_t{p.slice_dim()} : int64_t{p.axis()}));
  const Dim& length = n.In(0)->type.shape[axis];
  if (!length.known()) return n.NotYet("the length of the axis must be known");
  TERN_ASSIGN(const Dims sizes, SliceSizes(n, length.value()));
  const auto parts = n.b.Ops("Split", {n.In(0), n.b.Ints(sizes)}, {{"axis", axis}}, n.Tops());
  TERN_TRY(Status(n.b.status()));
  for (int i = 0; i < n.Tops(); ++i) n.Out(i, parts[static_cast<size_t>(i)]);
  return {};
}

Status Split(Layer& n) {
  Value* x = n.In(0);
  for (int i = 0; i < n.Tops(); ++i) n.Out(i, Copied(n, x));
  return {};
}

Status Flatten(Layer& n) {
  const auto& p = n.proto.flatten_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_ASSIGN(const int first, n.AxisIn(rank, p.axis()));
  TERN_ASSIGN(const int last, n.AxisIn(rank, p.end_axis()));
  if (last < first) return n.Bad("end_axis ", last, " is before axis ", first);
  Dims dims(static_cast<size_t>(first), 0);
  dims.push_back(-1);
  for (int i = last + 1; i < rank; ++i) {
    const Dim& dim = n.In(0)->type.shape[i];
    if (!dim.known()) return n.NotYet("the dims after end_axis must be known");
    dims.push_back(dim.value());
  }
  n.Out(0, Reshaped(n, n.In(0), dims));
  return {};
}

// Replaces `num_axes` axes from `axis` by the dims of the shape. 0 copies the dim at the same place, -1 is
// inferred.
Status Reshape(Layer& n) {
  const auto& p = n.proto.reshape_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  const int64_t start = p.axis() >= 0 ? p.axis() : rank + int64_t{p.axis()} + 1;
  const int64_t end = p.num_axes() == -1 ? rank : start + p.num_axes();
  if (start < 0 || start > rank || end < start || end > rank)
    return n.Bad("axis ", p.axis(), " and num_axes ", p.num_axes(), " exceed the ", rank,
                 " axes of the bottom");
  const auto copied = [&](int64_t i) -> Result<int64_t> {
    if (i >= rank) return n.Bad("dim 0 at axis ", i, " copies an axis that the bottom does not have");
    const Dim& dim = n.In(0)->type.shape[static_cast<int>(i)];
    if (!dim.known()) return n.NotYet("dim ", i, " of the bottom must be known");
    return dim.value();
  };
  Dims dims(static_cast<size_t>(start), 0);
  for (const int64_t dim : p.shape().dim()) {
    dims.push_back(dim);
    if (dim < -1) return n.Bad("dim ", dim, " is negative");
    if (dim != 0) continue;
    const auto here = static_cast<int64_t>(dims.size()) - 1;
    if (here >= rank) return n.Bad("dim 0 at axis ", here, " copies an axis that the bottom does not have");
  }
  if (std::count(dims.begin(), dims.end(), -1) > 1) return n.Bad("at most one dim may be -1");
  for (int64_t i = end; i < rank; ++i) {
    TERN_ASSIGN(const int64_t dim, copied(i));
    dims.push_back(dim);
  }
  n.Out(0, Reshaped(n, n.In(0), dims));
  return {};
}

Status Permute(Layer& n) {
  TERN_ASSIGN(const int rank, n.RankOf(0));
  Dims order;
  std::set<int64_t> listed;
  for (const uint32_t axis : n.proto.permute_param().order()) {
    if (axis >= static_cast<uint32_t>(rank) || !listed.insert(axis).second)
      return n.Bad("order ", axis, " is repeated or outside the ", rank, " axes of the bottom");
    order.push_back(axis);
  }
  for (int i = 0; i < rank; ++i)  // axes that are not listed follow in their order
    if (!listed.count(i)) order.push_back(i);
  n.Out(0, n.b.Op("Transpose", {n.In(0)}, {{"perm", order}}));
  return {};
}

// Cuts the first bottom to the dims of the second one, from `axis` on.
Status Crop(Layer& n) {
  const auto& p = n.proto.crop_param();
  TERN_ASSIGN(const Dims from, n.DimsOf(0));
  TERN_ASSIGN(const Dims to, n.DimsOf(1));
  TERN_ASSIGN(const int axis, n.Axis(0, p.axis()));
  if (from.size() != to.size()) return n.Bad("the bottoms have ", from.size(), " and ", to.size(), " axes");
  const int axes = static_cast<int>(from.size()) - axis;
  if (p.offset_size() > 1 && p.offset_size() != axes)
    return n.Bad("offset has ", p.offset_size(), " numbers, but ", axes, " axes are cropped");
  Dims starts, ends, which;
  for (int i = 0; i < axes; ++i) {
    const auto at = static_cast<size_t>(axis + i);
    const int64_t offset = p.offset_size() == 0 ? 0 : p.offset(p.offset_size() == 1 ? 0 : i);
    if (offset + to[at] > from[at])
      return n.Bad("offset ", offset, " plus ", to[at], " exceeds ", from[at], " along axis ", axis + i);
    starts.push_back(offset);
    ends.push_back(offset + to[at]);
    which.push_back(axis + i);
  }
  n.Out(0, n.b.Op("Slice", {n.In(0), n.b.Ints(starts), n.b.Ints(ends), n.b.Ints(which)}));
  return {};
}

Status Tile(Layer& n) {
  const auto& p = n.proto.tile_param();
  TERN_ASSIGN(const int rank, n.RankOf(0));
  TERN_ASSIGN(const int axis, n.AxisIn(rank, p.axis()));
  if (p.tiles() < 1) return n.Bad("tiles is ", p.tiles(), ", but must be positive");
  Dims repeats(static_cast<size_t>(rank), 1);
  repeats[static_cast<size_t>(axis)] = p.tiles();
  n.Out(0, n.b.Op("Tile", {n.In(0), n.b.Ints(repeats)}));
  return {};
}

// [N, g * c, …] as [N, c * g, …]: transposes the groups and the channels in them.
Status ShuffleChannel(Layer& n) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  const int64_t groups = n.proto.shuffle_channel_param().group();
  if (dims.size() < 2) return n.Bad("the bottom must have at least 2 axes");
  if (groups < 1 || dims[1] % groups != 0)
    return n.Bad(dims[1], " channels are not divisible by group ", groups);
  Value* split = Reshaped(n, n.In(0), {0, groups, dims[1] / groups, -1});
  Value* swapped = n.b.Op("Transpose", {split}, {{"perm", Dims{0, 2, 1, 3}}});
  Dims back = dims;
  back[0] = 0;
  n.Out(0, Reshaped(n, swapped, back));
  return {};
}

// The layer of YOLOv2: each block of stride x stride pixels becomes channels.
Status Reorg(Layer& n) {
  const auto& p = n.proto.reorg_param();
  if (p.reverse()) return n.NotYet("reverse");
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  const int64_t s = p.stride();
  if (dims.size() != 4 || s < 1 || dims[2] % s != 0 || dims[3] % s != 0)
    return n.Bad("the bottom must be [N,C,H,W] with H and W divisible by stride ", s);
  Value* blocks = Reshaped(n, n.In(0), {0, dims[1], dims[2] / s, s, dims[3] / s, s});
  Value* moved = n.b.Op("Transpose", {blocks}, {{"perm", Dims{0, 3, 5, 1, 2, 4}}});
  n.Out(0, Reshaped(n, moved, {0, dims[1] * s * s, dims[2] / s, dims[3] / s}));
  return {};
}

Status BatchReindex(Layer& n) {
  Value* indices = Reshaped(n, CastTo(n, n.In(1), DType::kI64), {-1});
  n.Out(0, n.b.Op("Gather", {n.In(0), indices}, {{"axis", int64_t{0}}}));
  return {};
}

// The last bottom selects the items of the other bottoms.
Status Filter(Layer& n) {
  const int count = n.Bottoms() - 1;
  if (n.Tops() != count) return n.Bad("has ", n.Bottoms(), " bottoms, so it must have ", count, " tops");
  Value* keep = Binary(n, "equal", n.In(count), Number(n, 0));
  keep = Reshaped(n, Unary(n, "not", keep), {-1});
  std::vector<Value*> tops;
  for (int i = 0; i < count; ++i)
    tops.push_back(n.b.Op("Compress", {n.In(i), keep}, {{"flatten", false}, {"axis", int64_t{0}}}));
  for (int i = 0; i < count; ++i) n.Out(i, tops[static_cast<size_t>(i)]);
  return {};
}

}  // namespace

TERN_CONVERTERS(shape) {
  table.Add("BatchReindex", BatchReindex, {2, 2, 1, 1});
  table.Add("Concat", Concat, {1, kAny, 1, 1});
  table.Add("Crop", Crop, {2, 2, 1, 1});
  table.Add("Filter", Filter, {2, kAny, 1, kAny});
  table.Add("Flatten", Flatten);
  table.Add("Permute", Permute);
  table.Add("Reorg", Reorg);
  table.Add("Reshape", Reshape);
  table.Add("ShuffleChannel", ShuffleChannel);
  table.Add("Slice", Slice, {1, 1, 1, kAny});
  table.Add("Split", Split, {1, 1, 1, kAny});
  table.Add("Tile", Tile);
}

}  // namespace tern::caffe
