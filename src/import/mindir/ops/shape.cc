// Converts primitives that change the shape, or join and split tensors.
#include <algorithm>

#include "import/mindir/ops/promote.h"
#include "import/mindir/ops/shape_value.h"

namespace tern::mindir {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 46;

Status Flatten(MindNode& n) {
  n.Out(n.b.Op("Flatten", {n.In(0)}, {{"axis", 1}}));
  return {};
}

// Merges the axes start_dim to end_dim.
Status FlattenExt(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  Emit e(n);
  const int64_t rank = n.RankOf(0);
  if (rank == 0) {
    n.Out(e.Reshape(n.In(0), {1}));
    return {};
  }
  int64_t start = n.Int(1, {"start_dim"}, 0), end = n.Int(2, {"end_dim"}, -1);
  start += start < 0 ? rank : 0;
  end += end < 0 ? rank : 0;
  if (start < 0 || end >= rank || start > end)
    return n.Bad("cannot merge the axes ", start, " to ", end, " of ", rank);
  std::vector<Value*> dims;
  for (int64_t i = 0; i < start; ++i) dims.push_back(e.SizeOf(n.In(0), i));
  dims.push_back(n.b.Ints({-1}));
  for (int64_t i = end + 1; i < rank; ++i) dims.push_back(e.SizeOf(n.In(0), i));
  n.Out(e.ReshapeTo(n.In(0), e.Concat(dims, 0)));
  return {};
}

Status Reshape(MindNode& n) {
  if (n.InputCount() < 2) return n.Bad("the shape is missing");
  Emit e(n);
  n.Out(e.ReshapeTo(n.In(0), ShapeValue(n, 1)));
  return {};
}

Status ViewAs(MindNode& n) {
  if (n.InputCount() < 2) return n.Bad("needs 2 inputs");
  Emit e(n);
  n.Out(e.ReshapeTo(n.In(0), e.ShapeOf(n.In(1))));
  return {};
}

Status Transpose(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  auto perm = n.Ints(1, {"perm", "dims", "input_perm"}, {});
  for (int64_t& axis : perm) axis += axis < 0 ? n.RankOf(0) : 0;
  Emit e(n);
  n.Out(perm.empty() ? n.In(0) : e.Transpose(n.In(0), perm));
  return {};
}

// Swaps two axes; TExt swaps the axes of a matrix.
Status TransposeExt(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  const int64_t rank = n.RankOf(0);
  if (rank < 2) {
    n.OutItem(n.inputs()[0]);
    return {};
  }
  int64_t a = n.Int(1, {"dim0"}, 0), b = n.Int(2, {"dim1"}, 1);
  a += a < 0 ? rank : 0;
  b += b < 0 ? rank : 0;
  if (a < 0 || b < 0 || a >= rank || b >= rank)
    return n.Bad("cannot swap the axes ", a, " and ", b, " of ", rank);
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i == a ? b : i == b ? a : i);
  Emit e(n);
  n.Out(e.Transpose(n.In(0), perm));
  return {};
}

Status ExpandDims(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  n.Out(e.Unsqueeze(n.In(0), n.Ints(1, {"axis", "dim"}, {0})));
  return {};
}

// Removes the listed axes, or all axes of size 1.
Status Squeeze(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  Emit e(n);
  const auto axes = n.Ints(1, {"axis"}, {});
  n.Out(axes.empty() ? n.b.Op("Squeeze", {n.In(0)}) : e.Squeeze(n.In(0), axes));
  return {};
}

// Returns the tensors that a primitive joins: a tuple, or all inputs of older versions.
std::vector<Value*> Parts(MindNode& n) {
  std::vector<Value*> parts;
  for (int i = 0; i < n.InputCount(); ++i) {
    if (i > 0 && !n.inputs()[static_cast<size_t>(i)].is(Item::Kind::kValue)) break;
    for (Value* part : n.Tensors(i)) parts.push_back(part);
  }
  Emit e(n);
  if (parts.empty()) n.b.Fail(n.Bad("has no tensors"));
  PromoteAll(e, parts);
  return parts;
}

Status Concat(MindNode& n) {
  Emit e(n);
  const int64_t axis = n.InputCount() == 2 && n.inputs()[0].is(Item::Kind::kTuple)
                           ? n.Int(1, {})
                           : n.Int(n.kAttribute, {"axis"}, 0);
  n.Out(e.Concat(Parts(n), axis));
  return {};
}

Status Stack(MindNode& n) {
  Emit e(n);
  const int64_t axis = n.InputCount() == 2 && n.inputs()[0].is(Item::Kind::kTuple)
                           ? n.Int(1, {})
                           : n.Int(n.kAttribute, {"axis", "dim"}, 0);
  std::vector<Value*> parts = Parts(n);
  for (Value*& part : parts) part = e.Unsqueeze(part, {axis});
  n.Out(e.Concat(parts, axis));
  return {};
}

// Returns the size of an axis, which must be known.
Result<int64_t> KnownSize(MindNode& n, int64_t& axis) {
  TERN_TRY(RequireRank(n, 0, 1));
  axis += axis < 0 ? n.RankOf(0) : 0;
  if (axis < 0 || axis >= n.RankOf(0))
    return n.Bad("axis ", axis, " does not exist in a tensor of rank ", n.RankOf(0));
  const Dim size = n.In(0)->type.shape[static_cast<int>(axis)];
  if (!size.known()) return n.NotYet("the size of axis ", axis, " is not known");
  if (size.value() > kMaxSize) return n.Bad("axis ", axis, " has ", size.value(), " elements");
  return size.value();
}

Status Unstack(MindNode& n) {
  int64_t axis = n.op() == "UnstackExtView" ? n.Int(1, {"dim"}) : n.Int(n.kAttribute, {"axis"}, 0);
  TERN_ASSIGN(const int64_t count, KnownSize(n, axis));
  if (count < 1 || count > 100000) return n.NotYet(count, " parts");
  Emit e(n);
  auto parts = n.b.Ops("Split", {n.In(0)}, {{"axis", axis}}, static_cast<int>(count));
  for (Value*& part : parts) part = e.Squeeze(part, {axis});
  n.Out(parts);
  return {};
}

Status SplitSizes(MindNode& n, int64_t axis, const std::vector<int64_t>& sizes) {
  if (sizes.empty() || sizes.size() > 100000) return n.NotYet(sizes.size(), " parts");
  n.Out(n.b.Ops("Split", {n.In(0), n.b.Ints(sizes)}, {{"axis", axis}}, static_cast<int>(sizes.size())));
  return {};
}

// Splits x into equal parts. Inputs: x, axis, output_num.
Status Split(MindNode& n) {
  if (!n.Has(0)) return n.Bad("needs an input");
  const int64_t count = n.Int(2, {"output_num"}, 1);
  if (count < 1 || count > 100000) return n.Bad(count, " parts");
  n.Out(n.b.Ops("Split", {n.In(0)}, {{"axis", n.Int(1, {"axis"})}}, static_cast<int>(count)));
  return {};
}

// Returns the sizes of parts of at most `part` elements.
std::vector<int64_t> SizesOf(int64_t total, int64_t part) {
  std::vector<int64_t> sizes;
  for (int64_t start = 0; start < total && sizes.size() <= 100000; start += part)
    sizes.push_back(std::min(part, total - start));
  return sizes;
}

Status SplitTensor(MindNode& n) {
  int64_t axis = n.Int(2, {"dim"}, 0);
  TERN_ASSIGN(const int64_t total, KnownSize(n, axis));
  const int64_t part = n.Int(1, {"split_size"}, 1);
  if (part < 1) return n.Bad("split_size is ", part);
  return SplitSizes(n, axis, SizesOf(total, std::min(part, std::max<int64_t>(total, 1))));
}

Status Chunk(MindNode& n) {
  int64_t axis = n.Int(2, {"dim"}, 0);
  TERN_ASSIGN(const int64_t total, KnownSize(n, axis));
  const int64_t chunks = n.Int(1, {"chunks"}, 1);
  if (chunks < 1 || chunks > 100000 || total > kMaxSize)
    return n.Bad(chunks, " chunks of ", total, " elements");
  return SplitSizes(n, axis, SizesOf(total, std::max<int64_t>(1, (total + chunks - 1) / chunks)));
}

Status SplitWithSize(MindNode& n) {
  return SplitSizes(n, n.Int(2, {"dim"}, 0), n.Ints(1, {"split_size"}, {}));
}

// One of the sizes may be -1.
Status SplitV(MindNode& n) {
  int64_t axis = n.Int(n.kAttribute, {"split_dim"}, 0), sum = 0;
  auto sizes = n.Ints(n.kAttribute, {"size_splits"}, {});
  TERN_ASSIGN(const int64_t total, KnownSize(n, axis));
  for (const int64_t size : sizes) {
    if (size > total) return n.Bad("a part of ", size, " elements of an axis of ", total);
    sum += std::max<int64_t>(size, 0);
    if (sum > total) return n.Bad("the parts have more than ", total, " elements");
  }
  for (int64_t& size : sizes) size = size < 0 ? total - sum : size;
  return SplitSizes(n, axis, sizes);
}

// Repeats x. Missing leading axes of x have size 1.
Status Tile(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  auto repeats = n.Ints(1, {"multiples", "dims", "repeats"}, {});
  Emit e(n);
  Value* x = n.In(0);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < static_cast<int64_t>(repeats.size()) - n.RankOf(0); ++i) axes.push_back(i);
  if (!axes.empty()) x = e.Unsqueeze(x, axes);
  while (static_cast<int>(repeats.size()) < n.RankOf(0)) repeats.insert(repeats.begin(), 1);
  n.Out(n.b.Op("Tile", {x, n.b.Ints(repeats)}));
  return {};
}

// A -1 in the shape keeps the size of the axis.
Status BroadcastTo(MindNode& n) {
  Emit e(n);
  if (!n.Has(0)) return n.Bad("needs an input");
  Value* shape = nullptr;
  if (n.InputCount() > 1) {
    shape = ShapeValue(n, 1);
  } else {
    shape = n.b.Ints(n.Ints(n.kAttribute, {"shape"}, {}));
  }
  n.Out(e.Expand(n.In(0), e.Binary("max", shape, e.Long(1))));
  return {};
}

Status ExpandAs(MindNode& n) {
  if (n.InputCount() < 2) return n.Bad("needs 2 inputs");
  Emit e(n);
  n.Out(e.Expand(n.In(0), e.ShapeOf(n.In(1))));
  return {};
}

Status Identity(MindNode& n) {
  if (n.InputCount() < 1) return n.Bad("needs an input");
  n.OutItem(n.inputs()[0]);
  return {};
}

void AddJoins(ConverterTable& table) {
  table.Add("Concat", Concat);
  for (const char* name : {"Stack", "Pack", "StackExt"}) table.Add(name, Stack);
  for (const char* name : {"Unstack", "Unpack", "UnstackExtView"}) table.Add(name, Unstack);
  table.Add("Split", Split);
  table.Add("SplitV", SplitV);
  for (const char* name : {"SplitTensor", "SplitTensorView"}) table.Add(name, SplitTensor);
  for (const char* name : {"SplitWithSize", "SplitWithSizeView"}) table.Add(name, SplitWithSize);
  for (const char* name : {"Chunk", "ChunkView"}) table.Add(name, Chunk);
}

}  // namespace

TERN_CONVERTERS(shape) {
  AddJoins(table);
  table.Add("Flatten", Flatten);
  table.Add("FlattenExt", FlattenExt);
  for (const char* name : {"Reshape", "View"}) table.Add(name, Reshape);
  table.Add("ViewAs", ViewAs);
  for (const char* name : {"Transpose", "TransposeView"}) table.Add(name, Transpose);
  for (const char* name : {"TransposeExtView", "TExt"}) table.Add(name, TransposeExt);
  for (const char* name : {"ExpandDims", "ExpandDimsView", "Unsqueeze"}) table.Add(name, ExpandDims);
  table.Add("Squeeze", Squeeze);
  for (const char* name : {"Tile", "Repeat"}) table.Add(name, Tile);
  for (const char* name : {"BroadcastTo", "BroadcastToView", "DynamicBroadcastTo"})
    table.Add(name, BroadcastTo);
  table.Add("ExpandAs", ExpandAs);
  for (const char* name : {"Identity", "identity", "Copy", "Clone", "Contiguous", "Detach", "MoveTo"})
    table.Add(name, Identity);
}

}  // namespace tern::mindir
