// Views of a tensor with other dims.
#include <algorithm>
#include <numeric>
#include <set>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

constexpr int64_t kEnd = INT64_MAX;

Status View(AtenNode& n, const char* sizes) {
  n.Out(ReshapeTo(n.b, n.In("self"), n.Get(sizes).items));
  return {};
}

Status ViewAs(AtenNode& n) {
  Emit e(n.b);
  n.Out(ReshapeTo(n.b, n.In("self"), SizesOf(n.b, n.In("other"))));
  return {};
}

Status ViewDType(AtenNode& n) {
  Value* x = n.In("self");
  const DType to = n.Type("dtype");
  if (BitWidth(to) != BitWidth(x->type.dtype)) return n.NotYet("a view as a type of another width");
  n.Out(x->type.dtype == to ? x : n.b.Op("BitCast", {x}, {{"to", to}}));
  return {};
}

Status Permute(AtenNode& n, std::vector<int64_t> perm) {
  n.Out(Emit(n.b).Transpose(n.In("self"), std::move(perm)));
  return {};
}

std::vector<int64_t> Iota(int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(std::max(rank, 0)));
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

Status PermuteDims(AtenNode& n) {
  const int rank = n.RankOf("self");
  std::vector<int64_t> perm;
  for (const int64_t d : n.Ints("dims")) perm.push_back(Axis(n, d, rank));
  if (static_cast<int>(perm.size()) != rank) return n.Bad(perm.size(), " dims for a tensor of rank ", rank);
  return rank == 0 ? (n.Out(n.In("self")), Status()) : Permute(n, perm);
}

Status Swap(AtenNode& n, const char* first, const char* second) {
  const int rank = n.RankOf("self");
  const int64_t a = Axis(n, n.Int(first), rank), c = Axis(n, n.Int(second), rank);
  if (rank == 0) {
    n.Out(n.In("self"));
    return {};
  }
  std::vector<int64_t> perm = Iota(rank);
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(c)]);
  return Permute(n, perm);
}

// t, mT, numpy_T
Status Turn(AtenNode& n, bool all) {
  const int rank = n.RankOf("self");
  if (rank < 0) return n.NotYet("a tensor of unknown rank");
  std::vector<int64_t> perm = Iota(rank);
  if (all)
    std::reverse(perm.begin(), perm.end());
  else if (rank >= 2)
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  if (rank < 2) {
    n.Out(n.In("self"));
    return {};
  }
  return Permute(n, perm);
}

Status MoveDim(AtenNode& n) {
  const int rank = n.RankOf("self");
  std::vector<int64_t> from, to, rest, perm(static_cast<size_t>(std::max(rank, 0)), -1);
  for (const int64_t d : n.Ints("source")) from.push_back(Axis(n, d, rank));
  for (const int64_t d : n.Ints("destination")) to.push_back(Axis(n, d, rank));
  if (from.size() != to.size() || rank < 1) return n.Bad("source and destination differ in length");
  for (size_t i = 0; i < from.size(); ++i) perm[static_cast<size_t>(to[i])] = from[i];
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(from.begin(), from.end(), i) == from.end()) rest.push_back(i);
  size_t next = 0;
  for (int64_t& p : perm)
    if (p < 0) p = next < rest.size() ? rest[next++] : 0;
  return Permute(n, perm);
}

Status Unsqueeze(AtenNode& n) {
  Value* x = n.In("self");
  n.Out(Emit(n.b).Unsqueeze(x, {n.Int("dim")}));
  return {};
}

// PyTorch ignores dims whose size is not 1. A dim of symbolic size is not 1, because an exported program is
// specialised for sizes of 1.
Status SqueezeDims(AtenNode& n) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  std::vector<int64_t> axes;
  if (!n.HasParameter("dim")) {
    if (rank < 0) return n.NotYet("a tensor of unknown rank");
    axes = Iota(rank);
  } else {
    for (const int64_t d : n.Ints("dim")) axes.push_back(rank < 0 ? d : Axis(n, d, rank));
  }
  std::vector<int64_t> ones;
  for (const int64_t a : axes) {
    if (rank == 0) break;
    const bool one = rank < 0 || x->type.shape[static_cast<int>(a)].Is(1) ||
                     (n.HasParameter("dim") && x->type.shape[static_cast<int>(a)].unknown());
    if (one) ones.push_back(a);
  }
  n.Out(ones.empty() ? x : Emit(n.b).Squeeze(x, ones));
  return {};
}

Status Flatten(AtenNode& n) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  if (rank == 0) {
    n.Out(Emit(n.b).Reshape(x, {1}));
    return {};
  }
  const int64_t start = Axis(n, n.Int("start_dim"), rank), end = Axis(n, n.Int("end_dim", -1), rank);
  if (start > end) return n.Bad("start_dim ", start, " follows end_dim ", end);
  if (start == end) {
    n.Out(x);
    return {};
  }
  std::vector<Arg> sizes;
  for (int64_t i = 0; i < start; ++i) sizes.push_back(SizeOf(n.b, x, i));
  sizes.push_back(Arg::Int(-1));
  for (int64_t i = end + 1; i < rank; ++i) sizes.push_back(SizeOf(n.b, x, i));
  n.Out(ReshapeTo(n.b, x, sizes));
  return {};
}

Status Ravel(AtenNode& n) {
  n.Out(Emit(n.b).Reshape(n.In("self"), {-1}));
  return {};
}

Status Unflatten(AtenNode& n) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  const int64_t axis = Axis(n, n.Int("dim"), rank);
  std::vector<Arg> sizes;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) {
      sizes.push_back(SizeOf(n.b, x, i));
      continue;
    }
    for (const Arg& s : n.Get("sizes").items) sizes.push_back(s);
  }
  n.Out(ReshapeTo(n.b, x, sizes));
  return {};
}

// -1 keeps a size; in Tern's Expand, 1 does.
Status Expand(AtenNode& n, const char* sizes) {
  std::vector<Arg> target;
  for (const Arg& s : n.Get(sizes).items) target.push_back(s.known() && s.integer == -1 ? Arg::Int(1) : s);
  n.Out(Emit(n.b).Expand(n.In("self"), IntVector(n.b, target)));
  return {};
}

Status ExpandAs(AtenNode& n) {
  Emit e(n.b);
  n.Out(e.Expand(n.In("self"), e.Shape(n.In("other"))));
  return {};
}

Value* SliceOf(Builder& b, Value* x, int64_t axis, const Arg& start, const Arg& end, int64_t step) {
  const bool whole = (start.none() || (start.known() && start.integer == 0)) && step == 1 &&
                     (end.none() || (end.known() && end.integer == kEnd));
  if (whole) return x;
  Value* first = IntVector(b, {start.none() ? Arg::Int(0) : start});
  Value* last = IntVector(b, {end.none() ? Arg::Int(kEnd) : end});
  return b.Op("Slice", {x, first, last, b.Ints({axis}), b.Ints({step})});
}

Status Slice(AtenNode& n) {
  n.Out(SliceOf(n.b, n.In("self"), n.Int("dim"), n.Get("start"), n.Get("end"), n.Int("step", 1)));
  return {};
}

Result<Arg> Sum(AtenNode& n, const Arg& a, const Arg& c) {
  return ScalarOp(n.context, "add", {a, c}, {n.name, n.origin});
}

Status Narrow(AtenNode& n) {
  const Arg& start = n.Get("start");
  if (start.is_tensor()) return n.NotYet("a start that is a tensor");
  TERN_ASSIGN(Arg end, Sum(n, start, n.Get("length")));
  if (end.known() && end.integer == 0) end = start.known() && start.integer < 0 ? Arg::None() : end;
  n.Out(SliceOf(n.b, n.In("self"), n.Int("dim"), start, end, 1));
  return {};
}

Status Select(AtenNode& n) {
  Value* at = ScalarValue(n.b, n.Get("index"), DType::kI64);
  n.Out(n.b.Op("Gather", {n.In("self"), at}, {{"axis", n.Int("dim")}}));
  return {};
}

// Returns the size of a dim, which must be known.
Result<int64_t> KnownSize(AtenNode& n, Value* x, int64_t dim) {
  const Arg size = SizeOf(n.b, x, dim);
  if (!size.known()) return n.NotYet("a split of a dim of unknown size: ", x->type.ToString());
  return size.integer;
}

Status EmitSplit(AtenNode& n, Value* x, int64_t axis, const std::vector<int64_t>& sizes) {
  if (sizes.empty() || sizes.size() > 100000) return n.Bad("a split into ", sizes.size(), " parts");
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
  if (size / std::max<int64_t>(step, 1) > 100000) return n.Bad("a split of ", size, " into parts of ", step);
  for (int64_t at = 0; at < size; at += step) sizes.push_back(std::min(step, size - at));
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
    n.OutList(n.b.Ops("Split", {x}, {{"axis", axis}, {"num_outputs", chunks}}, static_cast<int>(chunks)));
    return {};
  }
  return SplitEvery(n, x, axis, size.integer, std::max<int64_t>((size.integer + chunks - 1) / chunks, 1));
}

Status TensorSplit(AtenNode& n) {
  Value* x = n.In("self");
  const int64_t axis = n.Int("dim");
  TERN_ASSIGN(const int64_t size, KnownSize(n, x, axis));
  std::vector<int64_t> sizes;
  if (n.HasParameter("sections")) {
    const int64_t parts = n.Int("sections");
    if (parts < 1 || parts > 100000) return n.Bad(parts, " sections");
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
  if (size < 1 || size > 100000) return n.NotYet("an axis of size ", size);
  std::vector<Value*> parts;
  Emit e(n.b);
  for (int64_t i = 0; i < size; ++i) parts.push_back(n.b.Op("Gather", {x, e.Long(i)}, {{"axis", axis}}));
  n.OutList(parts);
  return {};
}

Status Diagonal(AtenNode& n) {
  Value* x = n.In("self");
  Emit e(n.b);
  const int rank = x->type.shape.rank();
  const int64_t first = Axis(n, n.Int("dim1", 0), rank), second = Axis(n, n.Int("dim2", 1), rank),
                offset = n.Int("offset");
  if (first == second || rank < 2) return n.Bad("the diagonal of one dim");
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i)
    if (i != first && i != second) perm.push_back(i);
  perm.push_back(first);
  perm.push_back(second);
  x = e.Transpose(x, perm);
  Value* rows = ScalarValue(n.b, SizeOf(n.b, x, rank - 2), DType::kI64);
  Value* columns = ScalarValue(n.b, SizeOf(n.b, x, rank - 1), DType::kI64);
  if (offset < 0) rows = e.Add(rows, e.Long(offset));
  if (offset > 0) columns = e.Sub(columns, e.Long(offset));
  Value* count = e.Binary("max", e.Binary("min", rows, columns), e.Long(0));
  Value* i = e.Iota(count);
  Value* r = offset < 0 ? e.Sub(i, e.Long(offset)) : i;
  Value* c = offset > 0 ? e.Add(i, e.Long(offset)) : i;
  // With the matrix axes first, each pair of indices selects one vector of the other axes.
  std::vector<int64_t> front = {rank - 2, rank - 1};
  for (int64_t k = 0; k < rank - 2; ++k) front.push_back(k);
  Value* picked =
      n.b.Op("GatherND", {e.Transpose(x, front), e.Concat({e.Unsqueeze(r, {1}), e.Unsqueeze(c, {1})}, 1)});
  n.Out(rank == 2 ? picked : e.Transpose(picked, MovedPerm(rank - 1, 0, rank - 2)));
  return {};
}

// Windows of `size` elements along a dim, `step` apart, as a new last dim.
Status Unfold(AtenNode& n) {
  Value* x = n.In("self");
  Emit e(n.b);
  const int rank = x->type.shape.rank();
  const int64_t axis = Axis(n, n.Int("dimension"), rank), size = n.Int("size"), step = n.Int("step");
  if (rank < 1 || step < 1 || size < 0) return n.Bad("windows of ", size, " elements, ", step, " apart");
  Value* length = ScalarValue(n.b, SizeOf(n.b, x, axis), DType::kI64);
  Value* count = e.Add(e.Div(e.Sub(length, e.Long(size)), e.Long(step)), e.Long(1));
  Value* starts = e.Mul(e.Iota(count), e.Long(step));
  Value* at = e.Add(e.Unsqueeze(starts, {1}), e.Unsqueeze(e.Iota(e.Long(size)), {0}));
  Value* windows = n.b.Op("Gather", {x, at}, {{"axis", axis}});  // [..., count, size, ...]
  n.Out(e.Transpose(windows, MovedPerm(rank + 1, axis + 1, rank)));
  return {};
}

// A number as a dim, unknown if the graph computes it from values.
Dim DimOf(const Arg& a) {
  if (a.known()) return Dim(a.integer);
  return a.value && a.value->content && a.value->content->size() == 1 ? a.value->content->front() : Dim();
}

// Whether strides are those of row-major order. The strides of dims of size 1 do not matter.
bool RowMajor(const std::vector<Arg>& sizes, const std::vector<Arg>& strides) {
  Dim expected(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    const Dim size = DimOf(sizes[i]);
    if (!size.Is(1) && !(DimOf(strides[i]) == expected)) return false;
    expected = expected * size;
  }
  return true;
}

Dim CountOfDims(const std::vector<Dim>& dims) {
  Dim count(1);
  for (const Dim& d : dims) count = count * d;
  return count;
}

// Only tensors whose elements are in row-major order can be read with other strides.
Status AsStrided(AtenNode& n) {
  const TensorVar* var = n.Var("self");
  Value* x = n.In("self");
  const std::vector<Arg>&sizes = n.Get("size").items, &strides = n.Get("stride").items;
  const Arg offset = n.Has("storage_offset") ? n.Get("storage_offset") : Arg::Int(0);
  if (sizes.size() != strides.size()) return n.Bad("sizes and strides differ in number");
  if (!var || !var->dense || var->is_view()) return n.NotYet("strides of a view");
  std::vector<Dim> dims;
  for (const Arg& s : sizes) dims.push_back(DimOf(s));
  if (offset.known() && offset.integer == 0 && x->type.shape.ranked && RowMajor(sizes, strides) &&
      CountOfDims(dims) == CountOfDims(x->type.shape.dims)) {
    n.Out(ReshapeTo(n.b, x, sizes));
    return {};
  }
  Emit e(n.b);
  Value* at = ScalarValue(n.b, offset, DType::kI64);
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<int64_t> shape(sizes.size(), 1);
    shape[i] = -1;
    Value* steps = e.Iota(ScalarValue(n.b, sizes[i], DType::kI64));
    at = e.Add(at, e.Reshape(e.Mul(steps, ScalarValue(n.b, strides[i], DType::kI64)), shape));
  }
  n.Out(n.b.Op("Gather", {e.Reshape(x, {-1}), at}, {{"axis", int64_t{0}}}));
  return {};
}

Status AtLeast(AtenNode& n, int wanted) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  if (rank < 0) return n.NotYet("a tensor of unknown rank");
  Emit e(n.b);
  if (rank < wanted) {
    std::vector<int64_t> axes;
    if (wanted == 3 && rank == 2)
      axes = {2};
    else if (wanted == 3 && rank == 1)
      axes = {0, 2};
    else
      for (int64_t i = 0; i < wanted - rank; ++i) axes.push_back(i);
    x = e.Unsqueeze(x, axes);
  }
  n.Out(x);
  return {};
}

}  // namespace

std::vector<Arg> SizesOf(Builder& b, Value* x) {
  std::vector<Arg> sizes;
  for (int64_t i = 0; i < x->type.shape.rank(); ++i) sizes.push_back(SizeOf(b, x, i));
  return sizes;
}

std::vector<int64_t> MovedPerm(int rank, int64_t from, int64_t to) {
  std::vector<int64_t> perm = Iota(rank);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return perm;
}

// Most computed sizes are those of x at the same place, or can be inferred, so that the shape is a constant.
Value* ReshapeTo(Builder& b, Value* x, const std::vector<Arg>& sizes) {
  const tern::Shape& shape = x->type.shape;
  std::vector<int64_t> dims;
  int inferred = 0;
  bool zero = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Arg& s = sizes[i];
    if (s.known()) {
      dims.push_back(s.integer);
      inferred += s.integer == -1;
      zero |= s.integer == 0;
      continue;
    }
    const bool same = static_cast<int>(i) < shape.rank() && s.value && s.value->content &&
                      s.value->content->size() == 1 &&
                      s.value->content->front() == shape[static_cast<int>(i)];
    dims.push_back(same ? 0 : -1);
    inferred += !same;
  }
  const bool copies = std::any_of(sizes.begin(), sizes.end(), [](const Arg& s) { return !s.known(); });
  if (inferred <= 1 && !(zero && (copies || inferred)))
    return b.Op("Reshape", {x, b.Ints(dims)}, {{"allow_zero", zero}});
  return b.Op("Reshape", {x, IntVector(b, sizes)}, {{"allow_zero", true}});
}

TERN_CONVERTERS(shape) {
  table.Add("aten::view", [](AtenNode& n) { return View(n, "size"); });
  table.Add("aten::view.dtype", ViewDType);
  table.Add("aten::_unsafe_view", [](AtenNode& n) { return View(n, "size"); });
  table.Add("aten::view_copy", [](AtenNode& n) { return View(n, "size"); });
  table.Add("aten::reshape", [](AtenNode& n) { return View(n, "shape"); });
  table.Add("aten::_reshape_alias", [](AtenNode& n) { return View(n, "size"); });
  table.Add("aten::view_as", ViewAs);
  table.Add("aten::reshape_as", ViewAs);
  table.Add("aten::permute", PermuteDims);
  table.Add("aten::transpose", [](AtenNode& n) { return Swap(n, "dim0", "dim1"); });
  table.Add("aten::swapdims", [](AtenNode& n) { return Swap(n, "dim0", "dim1"); });
  table.Add("aten::swapaxes", [](AtenNode& n) { return Swap(n, "axis0", "axis1"); });
  table.Add("aten::t", [](AtenNode& n) { return Turn(n, true); });
  table.Add("aten::numpy_T", [](AtenNode& n) { return Turn(n, true); });
  table.Add("aten::mT", [](AtenNode& n) { return Turn(n, false); });
  table.Add("aten::adjoint", [](AtenNode& n) { return Turn(n, false); });
  table.Add("aten::movedim", MoveDim);
  table.Add("aten::moveaxis", MoveDim);
  table.Add("aten::unsqueeze", Unsqueeze);
  table.Add("aten::squeeze", SqueezeDims);
  table.Add("aten::flatten", Flatten);
  table.Add("aten::ravel", Ravel);
  table.Add("aten::unflatten", Unflatten);
  table.Add("aten::expand", [](AtenNode& n) { return Expand(n, "size"); });
  table.Add("aten::broadcast_to", [](AtenNode& n) { return Expand(n, "size"); });
  table.Add("aten::expand_as", ExpandAs);
  table.Add("aten::slice", Slice);
  table.Add("aten::narrow", Narrow);
  table.Add("aten::select", Select);
  table.Add("aten::split", Split);
  table.Add("aten::unsafe_split", Split);
  table.Add("aten::split_with_sizes", [](AtenNode& n) { return SplitWithSizes(n, "split_sizes"); });
  table.Add("aten::unsafe_split_with_sizes", [](AtenNode& n) { return SplitWithSizes(n, "split_sizes"); });
  table.Add("aten::chunk", Chunk);
  table.Add("aten::unsafe_chunk", Chunk);
  table.Add("aten::tensor_split", TensorSplit);
  table.Add("aten::unbind", Unbind);
  table.Add("aten::diagonal", Diagonal);
  table.Add("aten::linalg_diagonal", Diagonal);
  table.Add("aten::unfold", Unfold);
  table.Add("aten::as_strided", AsStrided);
  table.Add("aten::atleast_1d", [](AtenNode& n) { return AtLeast(n, 1); });
  table.Add("aten::atleast_2d", [](AtenNode& n) { return AtLeast(n, 2); });
  table.Add("aten::atleast_3d", [](AtenNode& n) { return AtLeast(n, 3); });
}

}  // namespace tern::torch
