// Concatenation, repetition and reordering.
#include <algorithm>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// Returns the tensors of an argument, cast to their common type.
std::vector<Value*> Promoted(AtenNode& n, const char* name) {
  std::vector<const Arg*> operands;
  for (const Arg& a : n.Get(name).items) operands.push_back(&a);
  const DType t = ResultType(operands);
  std::vector<Value*> values;
  for (const Arg* a : operands) values.push_back(As(n, *a, t));
  return values;
}

Status JoinAll(AtenNode& n, std::vector<Value*> parts, int64_t axis) {
  // An empty vector may be concatenated with anything.
  std::vector<Value*> kept;
  for (Value* v : parts)
    if (!(v->type.shape.rank() == 1 && v->type.shape[0].Is(0) && parts.size() > 1)) kept.push_back(v);
  if (kept.empty()) kept = parts;
  if (kept.empty()) return n.Bad("an empty list");
  n.Out(Emit(n.b).Concat(kept, axis));
  return {};
}

Status Cat(AtenNode& n) { return JoinAll(n, Promoted(n, "tensors"), n.Int("dim")); }

Status Stack(AtenNode& n) {
  Emit e(n.b);
  std::vector<Value*> parts = Promoted(n, "tensors");
  if (parts.empty()) return n.Bad("an empty list");
  const int64_t axis = n.Int("dim");
  for (Value*& v : parts) v = e.Unsqueeze(v, {axis});
  n.Out(e.Concat(parts, axis));
  return {};
}

Status HStack(AtenNode& n) {
  std::vector<Value*> parts = Promoted(n, "tensors");
  if (parts.empty()) return n.Bad("an empty list");
  const int rank = parts[0]->type.shape.rank();
  if (rank == 0)
    for (Value*& v : parts) v = Emit(n.b).Unsqueeze(v, {0});
  return JoinAll(n, parts, rank <= 1 ? 0 : 1);
}

Status VStack(AtenNode& n) {
  std::vector<Value*> parts = Promoted(n, "tensors");
  for (Value*& v : parts)
    if (v->type.shape.rank() < 2) v = Emit(n.b).Reshape(v, {1, -1});
  return JoinAll(n, parts, 0);
}

// Copies of x along each dim. There may be more repeats than dims: PyTorch adds dims in front.
Status Repeat(AtenNode& n, const char* name) {
  Emit e(n.b);
  Value* x = n.In("self");
  std::vector<Arg> repeats = n.Get(name).items;
  int rank = x->type.shape.rank();
  if (rank < 0) return n.NotYet("a tensor of unknown rank");
  while (static_cast<int>(repeats.size()) < rank) repeats.insert(repeats.begin(), Arg::Int(1));
  std::vector<int64_t> added;
  for (int64_t i = 0; i < static_cast<int64_t>(repeats.size()) - rank; ++i) added.push_back(i);
  if (!added.empty()) x = e.Unsqueeze(x, added);
  if (repeats.empty()) {
    n.Out(x);
    return {};
  }
  n.Out(n.b.Op("Tile", {x, IntVector(n.b, repeats)}));
  return {};
}

// For each element i of the result of repeat_interleave, returns the index of the input element that it
// copies. This is the number of cumulative repeats that are <= i.
Value* Sources(AtenNode& n, Value* repeats) {
  Emit e(n.b);
  Value* ends = n.b.Op("Cumulative", {e.Cast(repeats, DType::kI64), e.Long(0)}, {{"kind", "sum"}});
  Value* total = e.Reduce("sum", e.Cast(repeats, DType::kI64), {0}, false);
  Value* passed = e.Binary("less_equal", e.Unsqueeze(ends, {0}), e.Unsqueeze(e.Iota(total), {1}));
  return e.Reduce("sum", e.Cast(passed, DType::kI64), {1}, false);
}

Status RepeatInterleave(AtenNode& n) {
  Emit e(n.b);
  if (!n.HasParameter("self")) {
    n.Out(Sources(n, n.In("repeats")));
    return {};
  }
  Value* x = n.In("self");
  int64_t axis = n.Int("dim", 0);
  if (!n.Has("dim")) x = e.Reshape(x, {-1});
  const int rank = x->type.shape.rank();
  if (rank < 1) return n.NotYet("a tensor ", x->type.ToString());
  axis = Axis(n, axis, rank);
  const Arg& repeats = n.Get("repeats");
  if (repeats.is_tensor()) {
    Value* counts = n.In("repeats");
    const int counts_rank = counts->type.shape.rank();
    if (counts_rank == 0 || (counts_rank == 1 && counts->type.shape[0].Is(1)))
      counts = e.Expand(e.Reshape(counts, {1}), IntVector(n.b, {SizeOf(n.b, x, axis)}));
    n.Out(n.b.Op("Gather", {x, Sources(n, counts)}, {{"axis", axis}}));
    return {};
  }
  // [.., d, ..] → [.., d, 1, ..] → [.., d, r, ..] → [.., d*r, ..]
  std::vector<Arg> counts(static_cast<size_t>(rank + 1), Arg::Int(1)), sizes;
  counts[static_cast<size_t>(axis) + 1] = repeats;
  Value* y = e.Expand(e.Unsqueeze(x, {axis + 1}), IntVector(n.b, counts));
  for (int64_t i = 0; i < rank; ++i) sizes.push_back(i == axis ? Arg::Int(-1) : SizeOf(n.b, x, i));
  n.Out(ReshapeTo(n.b, y, sizes));
  return {};
}

Value* Reverse(Builder& b, Value* x, int64_t axis) {
  return b.Op("Slice", {x, b.Ints({-1}), b.Ints({INT64_MIN}), b.Ints({axis}), b.Ints({-1})});
}

Status Flip(AtenNode& n) {
  Value* x = n.In("self");
  for (const int64_t axis : Axes(n, n.Ints("dims"), x->type.shape.rank())) x = Reverse(n.b, x, axis);
  n.Out(x);
  return {};
}

Status Roll(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const std::vector<Arg>& shifts = n.Get("shifts").items;
  std::vector<int64_t> dims = n.Ints("dims");
  const bool flat = dims.empty();
  Value* y = flat ? e.Reshape(x, {-1}) : x;
  if (flat) dims = {0};
  if (dims.size() != shifts.size()) return n.Bad(shifts.size(), " shifts for ", dims.size(), " dims");
  for (size_t i = 0; i < dims.size(); ++i) {
    const Arg size = SizeOf(n.b, y, dims[i]);
    if (size.known() && size.integer == 0) continue;
    TERN_ASSIGN(Arg shift, ScalarOp(n.context, "mod", {shifts[i], size}, {n.name, n.origin}));
    TERN_ASSIGN(Arg cut, ScalarOp(n.context, "sub", {size, shift}, {n.name, n.origin}));
    if (shift.known() && shift.integer == 0) continue;
    Value *at = IntVector(n.b, {cut}), *axis = n.b.Ints({dims[i]});
    Value* tail = n.b.Op("Slice", {y, at, n.b.Ints({INT64_MAX}), axis});
    Value* head = n.b.Op("Slice", {y, n.b.Ints({0}), at, axis});
    y = e.Concat({tail, head}, dims[i]);
  }
  n.Out(flat ? ReshapeTo(n.b, y, SizesOf(n.b, x)) : y);
  return {};
}

Status Rot90(AtenNode& n) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  const auto dims = n.Ints("dims");
  if (dims.size() != 2) return n.Bad(dims.size(), " dims");
  const int64_t a = Axis(n, dims[0], rank), c = Axis(n, dims[1], rank), k = ((n.Int("k", 1) % 4) + 4) % 4;
  if (k == 2) x = Reverse(n.b, Reverse(n.b, x, a), c);
  if (rank < 2) return n.NotYet("a tensor ", x->type.ToString());
  if (k == 1 || k == 3) {
    std::vector<int64_t> perm(static_cast<size_t>(rank));
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(c)]);
    x = k == 1 ? Emit(n.b).Transpose(Reverse(n.b, x, c), perm)
               : Reverse(n.b, Emit(n.b).Transpose(x, perm), c);
  }
  n.Out(x);
  return {};
}

// A matrix with x on a diagonal, or the diagonal of a matrix.
Status DiagEmbed(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int rank = x->type.shape.rank() + 1;
  if (n.Int("offset") != 0 || Axis(n, n.Int("dim1", -2), rank) != rank - 2 ||
      Axis(n, n.Int("dim2", -1), rank) != rank - 1)
    return n.NotYet("other diagonals than the main one of the last two dims");
  Value* count = e.Iota(ScalarValue(n.b, SizeOf(n.b, x, -1), DType::kI64));
  Value* eye = e.Binary("equal", e.Unsqueeze(count, {1}), e.Unsqueeze(count, {0}));
  n.Out(e.Where(eye, e.Unsqueeze(x, {-1}), e.Like(x, 0)));
  return {};
}

Status BroadcastTensors(AtenNode& n) {
  Emit e(n.b);
  const std::vector<Value*> parts = n.Ins("tensors");
  // Finds the common shape as the shape of a sum of zeros, which broadcasts.
  Value* common = nullptr;
  for (Value* v : parts) {
    Value* zeros = e.Fill(e.Shape(v), DType::kI32, 0);
    common = common ? e.Add(common, zeros) : zeros;
  }
  std::vector<Value*> out;
  for (Value* v : parts) out.push_back(e.Expand(v, e.Shape(common)));
  n.OutList(out);
  return {};
}

Status Meshgrid(AtenNode& n) {
  Emit e(n.b);
  std::vector<Value*> parts = n.Ins("tensors");
  const bool swap = n.Text("indexing", "ij") == "xy" && parts.size() >= 2;
  if (swap) std::swap(parts[0], parts[1]);
  std::vector<Arg> sizes;
  for (Value* v : parts) sizes.push_back(v->type.shape.rank() == 0 ? Arg::Int(1) : SizeOf(n.b, v, 0));
  Value* shape = IntVector(n.b, sizes);
  std::vector<Value*> out;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<int64_t> dims(parts.size(), 1);
    dims[i] = -1;
    out.push_back(e.Expand(e.Reshape(parts[i], dims), shape));
  }
  if (swap) std::swap(out[0], out[1]);
  n.OutList(out);
  return {};
}

Status PixelShuffle(AtenNode& n) {
  const int64_t block = n.Int("upscale_factor");
  n.Out(n.b.Op("DepthToSpace", {n.In("self")}, {{"block", block}, {"mode", "CRD"}}));
  return {};
}

// [.., C, H·r, W·r] → [.., C·r·r, H, W]
Status PixelUnshuffle(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int64_t r = n.Int("downscale_factor");
  if (x->type.shape.rank() != 4 || r < 1) return n.NotYet("a tensor ", x->type.ToString());
  const auto size = [&](int i) { return SizeOf(n.b, x, i); };
  std::vector<Arg> parts = {size(0), size(1)}, out = {size(0)};
  for (const int i : {2, 3}) {
    TERN_ASSIGN(Arg s, ScalarOp(n.context, "floordiv", {size(i), Arg::Int(r)}, {n.name, n.origin}));
    parts.push_back(s);
    parts.push_back(Arg::Int(r));
  }
  out.push_back(Arg::Int(-1));
  out.push_back(parts[2]);
  out.push_back(parts[4]);
  Value* y = e.Transpose(ReshapeTo(n.b, x, parts), {0, 1, 3, 5, 2, 4});
  n.Out(ReshapeTo(n.b, y, out));
  return {};
}

Status ChannelShuffle(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int64_t groups = n.Int("groups");
  const int rank = x->type.shape.rank();
  if (rank < 3) return n.NotYet("a tensor ", x->type.ToString());
  const std::vector<Arg> sizes = SizesOf(n.b, x);
  TERN_ASSIGN(Arg per, ScalarOp(n.context, "floordiv", {sizes[1], Arg::Int(groups)}, {n.name, n.origin}));
  std::vector<Arg> split = {sizes[0], Arg::Int(groups), per};
  split.insert(split.end(), sizes.begin() + 2, sizes.end());
  n.Out(ReshapeTo(n.b, e.Transpose(ReshapeTo(n.b, x, split), MovedPerm(rank + 1, 1, 2)), sizes));
  return {};
}

}  // namespace

TERN_CONVERTERS(join) {
  table.Add("aten::cat", Cat);
  table.Add("aten::concat", Cat);
  table.Add("aten::concatenate", Cat);
  table.Add("aten::stack", Stack);
  table.Add("aten::hstack", HStack);
  table.Add("aten::vstack", VStack);
  table.Add("aten::repeat", [](AtenNode& n) { return Repeat(n, "repeats"); });
  table.Add("aten::tile", [](AtenNode& n) { return Repeat(n, "dims"); });
  table.Add("aten::repeat_interleave", RepeatInterleave);
  table.Add("aten::flip", Flip);
  table.Add("aten::fliplr", [](AtenNode& n) -> Status {
    n.Out(Reverse(n.b, n.In("self"), 1));
    return {};
  });
  table.Add("aten::flipud", [](AtenNode& n) -> Status {
    n.Out(Reverse(n.b, n.In("self"), 0));
    return {};
  });
  table.Add("aten::roll", Roll);
  table.Add("aten::rot90", Rot90);
  table.Add("aten::diag_embed", DiagEmbed);
  table.Add("aten::broadcast_tensors", BroadcastTensors);
  table.Add("aten::meshgrid", Meshgrid);
  table.Add("aten::pixel_shuffle", PixelShuffle);
  table.Add("aten::pixel_unshuffle", PixelUnshuffle);
  table.Add("aten::channel_shuffle", ChannelShuffle);
  table.Add("aten::native_channel_shuffle", ChannelShuffle);
}

}  // namespace tern::torch
