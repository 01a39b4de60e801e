// Splits a tensor along a dim.
#include <algorithm>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

constexpr int64_t kMaxParts = 100000;

// Returns the size of a dim, which must be known.
Result<int64_t> KnownSize(AtenNode& n, Value* x, int64_t dim) {
  const Arg size = SizeOf(n.b, x, dim);
  if (!size.known()) return n.NotYet("a split of a dim of unknown size: ", x->type.ToString());
  return size.integer;
}

Status EmitSplit(AtenNode& n, Value* x, int64_t axis, const std::vector<int64_t>& sizes) {
  if (sizes.empty() || sizes.size() > kMaxParts) return n.Bad("a split into ", sizes.size(), " parts");
  if (sizes.size() == 1) {
    n.OutList({x});
    return {};
  }
  n.OutList(n.b.Ops("Split", {x, n.b.Ints(sizes)}, {{"axis", axis}}, static_cast<int>(sizes.size())));
  return {};
}

Status SplitEvery(AtenNode& n, Value* x, int64_t axis, int64_t size, int64_t step) {
  if (step < 1 && size > 0) return n.Bad("a split size of ", step);
  std::vector<int64_t> sizes;
  if (size / std::max<int64_t>(step, 1) > kMaxParts)
    return n.Bad("a split of ", size, " into parts of ", step);
  for (int64_t left = size; left > 0; left -= sizes.back()) sizes.push_back(std::min(step, left));
  if (sizes.empty()) sizes.push_back(0);
  return EmitSplit(n, x, axis, sizes);
}

Status SplitWithSizes(AtenNode& n, const char* name) {
  Value* x = n.In("self");
  const std::vector<Arg>& sizes = n.Get(name).items;
  if (sizes.size() == 1) {
    n.OutList({x});
    return {};
  }
  n.OutList(
      n.b.Ops("Split", {x, IntVector(n.b, sizes)}, {{"axis", n.Int("dim")}}, static_cast<int>(sizes.size())));
  return {};
}

Status Split(AtenNode& n) {
  if (n.Get("split_size").list()) return SplitWithSizes(n, "split_size");
  Value* x = n.In("self");
  TERN_ASSIGN(const int64_t size, KnownSize(n, x, n.Int("dim")));
  return SplitEvery(n, x, n.Int("dim"), size, n.Int("split_size"));
}

Status Chunk(AtenNode& n) {
  Value* x = n.In("self");
  const int64_t chunks = n.Int("chunks"), axis = n.Int("dim");
  if (chunks < 1) return n.Bad(chunks, " chunks");
  const Arg size = SizeOf(n.b, x, axis);
  if (!size.known()) {  // chunks of equal size, except for the last ones
    if (chunks > kMaxParts) return n.Bad(chunks, " chunks");
    n.OutList(n.b.Ops("Split", {x}, {{"axis", axis}, {"num_outputs", chunks}}, static_cast<int>(chunks)));
    return {};
  }
  return SplitEvery(n, x, axis, size.integer,
                    std::max<int64_t>(size.integer / chunks + (size.integer % chunks != 0), 1));
}

Status TensorSplit(AtenNode& n) {
  Value* x = n.In("self");
  const int64_t axis = n.Int("dim");
  TERN_ASSIGN(const int64_t size, KnownSize(n, x, axis));
  std::vector<int64_t> sizes;
  if (n.HasParameter("sections")) {
    const int64_t parts = n.Int("sections");
    if (parts < 1 || parts > kMaxParts) return n.Bad(parts, " sections");
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(size / parts + (i < size % parts));
  } else {
    int64_t last = 0;
    for (int64_t at : n.Ints("indices")) {
      at = std::clamp<int64_t>(at < 0 ? at + size : at, last, size);
      sizes.push_back(at - last);
      last = at;
    }
    sizes.push_back(size - last);
  }
  return EmitSplit(n, x, axis, sizes);
}

Status Unbind(AtenNode& n) {
  Value* x = n.In("self");
  const int64_t axis = n.Int("dim");
  TERN_ASSIGN(const int64_t size, KnownSize(n, x, axis));
  if (size < 1 || size > kMaxParts) return n.NotYet("an axis of size ", size);
  std::vector<Value*> parts;
  Emit e(n.b);
  for (int64_t i = 0; i < size; ++i) parts.push_back(n.b.Op("Gather", {x, e.Long(i)}, {{"axis", axis}}));
  n.OutList(parts);
  return {};
}

}  // namespace

TERN_CONVERTERS(split) {
  table.Add("aten::split", Split);
  table.Add("aten::unsafe_split", Split);
  table.Add("aten::split_with_sizes", [](AtenNode& n) { return SplitWithSizes(n, "split_sizes"); });
  table.Add("aten::unsafe_split_with_sizes", [](AtenNode& n) { return SplitWithSizes(n, "split_sizes"); });
  table.Add("aten::chunk", Chunk);
  table.Add("aten::unsafe_chunk", Chunk);
  table.Add("aten::tensor_split", TensorSplit);
  table.Add("aten::unbind", Unbind);
}

}  // namespace tern::torch
