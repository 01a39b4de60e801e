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
  if (rank < 1) {  // Axis has reported an unknown rank
    n.Out(n.In("self"));
    return {};
  }
  std::vector<int64_t> perm = Iota(rank);
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(c)]);
  return Permute(n, perm);
}

// Reverses all dims (t, numpy_T) or swaps the last two (mT, adjoint).
Status TransposeDims(AtenNode& n, bool all) {
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

// In PyTorch, -1 keeps the size of a dim. In Tern's Expand, 1 keeps it.
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
  const bool all = (start.none() || (start.known() && start.integer == 0)) && step == 1 &&
                   (end.none() || (end.known() && end.integer == kEnd));
  if (all) return x;
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
  // If an earlier error left the rank unknown, the builder keeps that error.
  if (from < 0 || from >= rank || to < 0 || to >= rank) return perm;
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return perm;
}

// Reshapes x. The target is a constant if each computed size equals x's size at the same axis (0 in the
// target), except for at most one, which Reshape infers (-1).
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
  table.Add("aten::t", [](AtenNode& n) { return TransposeDims(n, true); });
  table.Add("aten::numpy_T", [](AtenNode& n) { return TransposeDims(n, true); });
  table.Add("aten::mT", [](AtenNode& n) { return TransposeDims(n, false); });
  table.Add("aten::adjoint", [](AtenNode& n) { return TransposeDims(n, false); });
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
  table.Add("aten::atleast_1d", [](AtenNode& n) { return AtLeast(n, 1); });
  table.Add("aten::atleast_2d", [](AtenNode& n) { return AtLeast(n, 2); });
  table.Add("aten::atleast_3d", [](AtenNode& n) { return AtLeast(n, 3); });
}

}  // namespace tern::torch
