// Converts operators that select ranges of elements, and those that rearrange blocks of them.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// A size of -1 means up to the end.
Status Slice(LiteNode& n) {
  Builder& b = n.b;
  Value* begin = Longs64(b, Flat(b, n.In(1)));
  const auto sizes = n.Longs(2), starts = n.Longs(1);
  if (sizes && starts && sizes->size() == starts->size()) {
    std::vector<int64_t> ends;
    for (size_t i = 0; i < sizes->size(); ++i)
      ends.push_back((*sizes)[i] < 0 ? INT32_MAX : (*starts)[i] + (*sizes)[i]);
    n.Out(0, b.Op("Slice", {n.In(0), b.Ints(*starts), b.Ints(ends)}));
    return {};
  }
  Value* size = Longs64(b, Flat(b, n.In(2)));
  Value* open = Binary(b, "less", size, b.Ints({0}));
  Value* end = b.Op("Where", {open, b.Ints({INT32_MAX}), Binary(b, "add", begin, size)});
  n.Out(0, b.Op("Slice", {n.In(0), begin, end}));
  return {};
}

// One input axis of a strided slice. `spec` is the entry of begin, end and strides that applies to the axis,
// and `shrink` says whether the axis is removed.
struct AxisRange {
  int spec = -1;  // the index in begin, end and strides; -1 for an axis that the ellipsis covers
  bool shrink = false;
};

// The plan of a strided slice: ranges per input axis, and the axes of the result that are new.
struct SlicePlan {
  std::vector<AxisRange> axes;
  std::vector<int64_t> squeeze, unsqueeze;
};

Result<SlicePlan> PlanOf(LiteNode& n, const fb::StridedSliceOptions& o, int specs) {
  SlicePlan plan;
  const int rank = n.RankOf(0);
  const auto bit = [](int mask, int i) { return i < 32 && (mask >> i & 1) != 0; };
  int fresh = 0;
  for (int i = 0; i < specs; ++i)
    if (bit(o.new_axis_mask(), i) && !bit(o.ellipsis_mask(), i)) ++fresh;
  bool ellipsis = false;
  for (int i = 0; i < specs; ++i) ellipsis |= bit(o.ellipsis_mask(), i);
  int covered = rank - (specs - fresh - (ellipsis ? 1 : 0));
  if (covered < 0) return n.Bad("selects along ", specs, " axes of a tensor with ", rank);
  int64_t result_axis = 0;
  for (int i = 0; i < specs; ++i) {
    if (bit(o.ellipsis_mask(), i)) {
      for (int k = 0; k < covered; ++k, ++result_axis) plan.axes.push_back({});
      covered = 0;
    } else if (bit(o.new_axis_mask(), i)) {
      plan.unsqueeze.push_back(result_axis++);
    } else {
      const bool shrink = bit(o.shrink_axis_mask(), i);
      if (shrink) plan.squeeze.push_back(static_cast<int64_t>(plan.axes.size()));
      plan.axes.push_back({i, shrink});
      if (!shrink) ++result_axis;
    }
  }
  return plan;
}

Status StridedSlice(LiteNode& n) {
  const auto& o = n.Options<fb::StridedSliceOptions>();
  Builder& b = n.b;
  const auto begins = n.Longs(1), ends = n.Longs(2), steps = n.Longs(3);
  const Shape& spec = n.In(1)->type.shape;
  if (!steps) return n.NotYet("strides that are not constant");
  if (spec.rank() != 1 || !spec[0].Is(static_cast<int64_t>(steps->size())) || n.In(2)->type.shape != spec)
    return n.Bad("begin, end and strides must be vectors of one size");
  if (steps->size() > 32) return n.Bad("selects along ", steps->size(), " axes");
  TERN_ASSIGN(const SlicePlan plan, PlanOf(n, o, static_cast<int>(steps->size())));
  std::vector<Value*> starts, stops;
  std::vector<int64_t> strides, axes;
  const auto part = [&](int input, const std::optional<std::vector<int64_t>>& known, int i) {
    return known ? b.Ints({(*known)[static_cast<size_t>(i)]})
                 : Sliced(b, Longs64(b, n.In(input)), 0, i, i + 1);
  };
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const int i = plan.axes[axis].spec;
    if (i < 0) continue;
    const int64_t step = (*steps)[static_cast<size_t>(i)];
    if (step == 0) return n.Bad("a stride is 0");
    const bool shrink = plan.axes[axis].shrink;
    const bool open_begin = (o.begin_mask() >> i & 1) && !shrink,
               open_end = (o.end_mask() >> i & 1) && !shrink;
    axes.push_back(static_cast<int64_t>(axis));
    strides.push_back(shrink ? 1 : step);
    Value* begin = open_begin ? b.Ints({step > 0 ? 0 : INT32_MAX}) : part(1, begins, i);
    starts.push_back(begin);
    if (shrink) {
      // The slice of element -1 (the last one) must not end at begin + 1, because an end of 0 is the start.
      Value* next = Binary(b, "add", begin, b.Ints({1}));
      Value* last = Binary(b, "equal", begin, b.Ints({-1}));
      stops.push_back(
          begins ? b.Ints({(*begins)[static_cast<size_t>(i)] == -1 ? INT32_MAX
                                                                   : (*begins)[static_cast<size_t>(i)] + 1})
                 : b.Op("Where", {last, b.Ints({INT32_MAX}), next}));
    } else if (open_end) {
      stops.push_back(b.Ints({step > 0 ? int64_t{INT32_MAX} : -int64_t{INT32_MAX}}));
    } else {
      Value* end = part(2, ends, i);
      stops.push_back(o.offset() ? Binary(b, "add", begin, end) : end);
    }
  }
  Value* y = n.In(0);
  if (!axes.empty())
    y = b.Op("Slice", {y, Joined(b, starts, 0), Joined(b, stops, 0), b.Ints(axes), b.Ints(strides)});
  if (!plan.squeeze.empty()) y = Squeezed(b, y, plan.squeeze);
  if (!plan.unsqueeze.empty()) y = Unsqueezed(b, y, plan.unsqueeze);
  n.Out(0, y);
  return {};
}

Status DepthToSpace(LiteNode& n, const char* op, int64_t block) {
  if (block < 1) return n.Bad("the block size is ", block);
  n.Out(0, n.b.Op(op, {n.In(0, Layout::kFirst)}, {{"block", block}}), Layout::kFirst);
  return {};
}

// Returns the constants of SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks [spatial] and pads [spatial, 2].
Status BlockArguments(LiteNode& n, std::vector<int64_t>& blocks, std::vector<int64_t>& pads) {
  const auto block = n.Longs(1), pad = n.Longs(2);
  if (!block || !pad) return n.NotYet("blocks or pads that are not constant");
  blocks = *block, pads = *pad;
  if (pads.size() != 2 * blocks.size() || static_cast<int>(blocks.size()) >= n.RankOf(0))
    return n.Bad("has ", blocks.size(), " blocks, ", pads.size(), " pads and ", n.RankOf(0), " dims");
  for (int64_t v : blocks)
    if (v < 1 || v > INT32_MAX) return n.Bad("a block has ", v, " elements");
  for (int64_t v : pads)
    if (v < 0 || v > INT32_MAX) return n.Bad("the pad or crop ", v);
  return {};
}

// Returns the dims of x from `first` on, as a vector.
Value* DimsFrom(Builder& b, Value* x, int64_t first) { return b.Op("Shape", {x}, {{"start", first}}); }

// [N, H, W, C] is padded, split into [N, H/b, b, W/b, b, C] and reordered to [b, b, N, H/b, W/b, C].
Status SpaceToBatch(LiteNode& n) {
  Builder& b = n.b;
  std::vector<int64_t> blocks, pads;
  TERN_TRY(BlockArguments(n, blocks, pads));
  const auto rank = static_cast<size_t>(n.RankOf(0)), spatial = blocks.size();
  std::vector<int64_t> all(2 * rank);
  for (size_t i = 0; i < spatial; ++i) all[1 + i] = pads[2 * i], all[rank + 1 + i] = pads[2 * i + 1];
  const TensorInfo& info = n.InfoIn(0);
  Value* zero = info.quantized && !info.quant.zeros.empty()
                    ? b.Scalar(info.dtype, static_cast<double>(info.quant.zeros[0]))
                    : nullptr;
  Value* x = b.Op("Pad", {n.In(0), b.Ints(all), zero});
  std::vector<Value*> split = {DimOf(b, x, 0)};
  Value* batch = DimOf(b, x, 0);
  std::vector<Value*> merged;
  std::vector<int64_t> perm;
  int64_t product = 1;
  for (size_t i = 0; i < spatial; ++i) {
    Value* size = Binary(b, "div", DimOf(b, x, static_cast<int64_t>(i) + 1), b.Ints({blocks[i]}));
    split.insert(split.end(), {size, b.Ints({blocks[i]})});
    merged.push_back(size);
    perm.push_back(static_cast<int64_t>(2 * i) + 2);
    product *= blocks[i];
  }
  perm.push_back(0);
  for (size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<int64_t>(2 * i) + 1);
  const auto lead = static_cast<int64_t>(spatial) + 1;
  for (size_t i = spatial + 1; i < rank; ++i) perm.push_back(static_cast<int64_t>(i + spatial));
  Value* rest = DimsFrom(b, x, lead);
  split.push_back(rest);
  merged.insert(merged.begin(), Binary(b, "mul", batch, b.Ints({product})));
  merged.push_back(rest);
  Value* y = Transposed(b, b.Op("Reshape", {x, Joined(b, split, 0)}), perm);
  n.Out(0, b.Op("Reshape", {y, Joined(b, merged, 0)}));
  return {};
}

// [b·b·N, H, W, C] is split into [b, b, N, H, W, C], reordered to [N, H, b, W, b, C] and cropped.
Status BatchToSpace(LiteNode& n) {
  Builder& b = n.b;
  std::vector<int64_t> blocks, crops;
  TERN_TRY(BlockArguments(n, blocks, crops));
  Value* x = n.In(0);
  const auto rank = static_cast<size_t>(n.RankOf(0)), spatial = blocks.size();
  int64_t product = 1;
  for (int64_t v : blocks) product *= v;
  Value* batch = Binary(b, "div", DimOf(b, x, 0), b.Ints({product}));
  Value* rest = DimsFrom(b, x, 1);
  std::vector<int64_t> perm = {static_cast<int64_t>(spatial)};
  std::vector<Value*> merged = {batch};
  for (size_t i = 0; i < spatial; ++i) {
    const auto k = static_cast<int64_t>(i);
    perm.insert(perm.end(), {static_cast<int64_t>(spatial) + 1 + k, k});
    merged.push_back(Binary(b, "mul", DimOf(b, x, k + 1), b.Ints({blocks[i]})));
  }
  for (size_t i = spatial + 1; i < rank; ++i) perm.push_back(static_cast<int64_t>(i + spatial));
  merged.push_back(DimsFrom(b, x, static_cast<int64_t>(spatial) + 1));
  Value* y = Transposed(b, b.Op("Reshape", {x, Joined(b, {b.Ints(blocks), batch, rest}, 0)}), perm);
  y = b.Op("Reshape", {y, Joined(b, merged, 0)});
  for (size_t i = 0; i < spatial; ++i)
    if (crops[2 * i] || crops[2 * i + 1])
      y = Sliced(b, y, static_cast<int64_t>(i) + 1, crops[2 * i],
                 crops[2 * i + 1] ? -crops[2 * i + 1] : INT32_MAX);
  n.Out(0, y);
  return {};
}

Status Reverse(LiteNode& n) {
  const auto axes = n.Longs(1);
  if (!axes) return n.NotYet("axes that are not constant");
  Value* x = n.In(0);
  for (int64_t a : *axes) {
    TERN_ASSIGN(a, AxisOf(n, a, n.RankOf(0)));
    x = Sliced(n.b, x, a, INT32_MAX, -int64_t{INT32_MAX}, -1);
  }
  n.Out(0, x);
  return {};
}

// Tern reverses along the first two axes. Moves the batch and sequence axes there.
Status ReverseSequence(LiteNode& n) {
  const auto& o = n.Options<fb::ReverseSequenceOptions>();
  const int rank = n.RankOf(0);
  TERN_ASSIGN(const int64_t seq, AxisOf(n, o.seq_dim(), rank));
  TERN_ASSIGN(const int64_t batch, AxisOf(n, o.batch_dim(), rank));
  if (seq == batch) return n.Bad("the batch axis is also the sequence axis");
  std::vector<int64_t> perm = {batch, seq}, inverse(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (i != batch && i != seq) perm.push_back(i);
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Value* y = n.b.Op("ReverseSequence", {Transposed(n.b, n.In(0), perm), Longs64(n.b, n.In(1))},
                    {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}});
  n.Out(0, Transposed(n.b, y, inverse));
  return {};
}

}  // namespace

TERN_CONVERTERS(slice) {
  table.Add("SLICE", 3, Slice);
  table.Add("STRIDED_SLICE", 4, StridedSlice);
  table.Add("DEPTH_TO_SPACE", 1, [](LiteNode& n) {
    return DepthToSpace(n, "DepthToSpace", n.Options<fb::DepthToSpaceOptions>().block_size());
  });
  table.Add("SPACE_TO_DEPTH", 1, [](LiteNode& n) {
    return DepthToSpace(n, "SpaceToDepth", n.Options<fb::SpaceToDepthOptions>().block_size());
  });
  table.Add("SPACE_TO_BATCH_ND", 3, SpaceToBatch);
  table.Add("BATCH_TO_SPACE_ND", 3, BatchToSpace);
  table.Add("REVERSE_V2", 2, Reverse);
  table.Add("REVERSE_SEQUENCE", 2, ReverseSequence);
}

}  // namespace tern::tflite
