// Indexing with tensors.
#include <algorithm>
#include <cmath>

#include "import/torch/aten/functions.h"
#include "import/torch/aten/views.h"

namespace tern::torch {
namespace {

// The tensors of x[indices]: one per indexed dim of x, broadcast against each other.
struct Indices {
  std::vector<int64_t> dims;    // the indexed dims of x, ascending
  std::vector<Value*> tensors;  // i64
  bool adjacent = true;         // no slice is between the indexed dims
  Value* joined = nullptr;      // the tensors, joined along a new last axis; set if they come from one mask
};

// A mask stands for the positions of its true elements. It is replaced by one index tensor per dim of the
// mask.
Result<Indices> IndicesOf(AtenNode& n, int rank) {
  Emit e(n.b);
  Indices out;
  int64_t dim = 0;
  for (const Arg& a : n.Get("indices").items) {
    Value* v = n.ValueOf(a);
    if (!v) {
      ++dim;
      continue;
    }
    const DType t = v->type.dtype;
    if (t == DType::kBool || t == DType::kU8) {
      const int mask_rank = v->type.shape.rank();
      if (mask_rank < 0) return n.NotYet("a mask of unknown rank");
      Value* places = n.b.Op("NonZero", {v});
      out.joined = out.dims.empty() ? e.Transpose(places, {1, 0}) : nullptr;
      for (int i = 0; i < mask_rank; ++i) {
        out.dims.push_back(dim++);
        out.tensors.push_back(n.b.Op("Gather", {places, e.Long(i)}, {{"axis", int64_t{0}}}));
      }
      continue;
    }
    out.joined = nullptr;
    out.dims.push_back(dim++);
    out.tensors.push_back(e.Cast(v, DType::kI64));
  }
  if (out.dims.empty()) return n.NotYet("indexing without indices");
  if (out.dims.back() >= rank) return n.Bad(out.dims.back() + 1, " indices for a tensor of rank ", rank);
  for (size_t i = 1; i < out.dims.size(); ++i) out.adjacent &= out.dims[i] == out.dims[i - 1] + 1;
  return out;
}

// Returns the common rank of the index tensors, or -1 if one is unknown.
int IndexRank(const Indices& at) {
  int rank = 0;
  for (Value* v : at.tensors) {
    if (v->type.shape.rank() < 0) return -1;
    rank = std::max(rank, v->type.shape.rank());
  }
  return rank;
}

// Broadcasts the index tensors and joins them along a new last axis, as GatherND and ScatterND read them.
Value* Joined(Builder& b, const Indices& at) {
  Emit e(b);
  if (at.joined) return at.joined;
  if (at.tensors.size() == 1) return e.Unsqueeze(at.tensors[0], {-1});
  Value* zeros = nullptr;
  bool same = true;
  for (size_t i = 1; i < at.tensors.size(); ++i)
    same &= at.tensors[i]->type.shape == at.tensors[0]->type.shape;
  if (!same) {
    for (Value* v : at.tensors) {
      Value* z = e.Mul(v, e.Long(0));
      zeros = zeros ? e.Add(zeros, z) : z;
    }
  }
  std::vector<Value*> parts;
  for (Value* v : at.tensors) parts.push_back(e.Unsqueeze(same ? v : e.Add(v, zeros), {-1}));
  return e.Concat(parts, -1);
}

// Returns the permutation that moves the indexed dims to the front.
std::vector<int64_t> FrontPerm(const Indices& at, int rank) {
  std::vector<int64_t> perm = at.dims;
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(at.dims.begin(), at.dims.end(), i) == at.dims.end()) perm.push_back(i);
  return perm;
}

bool IsIdentity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Value* Permuted(Builder& b, Value* x, const std::vector<int64_t>& perm) {
  return IsIdentity(perm) ? x : Emit(b).Transpose(x, perm);
}

std::vector<int64_t> Inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

// With adjacent indices, the dims of the index tensors take the place of the first indexed dim. Otherwise
// they come first.
std::vector<int64_t> ResultPerm(const Indices& at, int index_rank, int rest) {
  const int64_t lead = at.adjacent ? at.dims[0] : 0;
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < lead; ++i) perm.push_back(index_rank + i);
  for (int64_t i = 0; i < index_rank; ++i) perm.push_back(i);
  for (int64_t i = lead; i < rest; ++i) perm.push_back(index_rank + i);
  return perm;
}

Status Index(AtenNode& n) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  if (rank < 0) return n.NotYet("a tensor of unknown rank");
  TERN_ASSIGN(const Indices at, IndicesOf(n, rank));
  if (at.dims.size() == 1) {
    n.Out(n.b.Op("Gather", {x, at.tensors[0]}, {{"axis", at.dims[0]}}));
    return {};
  }
  const int index_rank = IndexRank(at), rest = rank - static_cast<int>(at.dims.size());
  if (index_rank < 0) return n.NotYet("an index of unknown rank");
  Value* y = n.b.Op("GatherND", {Permuted(n.b, x, FrontPerm(at, rank)), Joined(n.b, at)});
  n.Out(Permuted(n.b, y, ResultPerm(at, index_rank, rest)));
  return {};
}

// Returns whether the call is x[mask] = value with one value for all elements.
bool IsMaskFill(AtenNode& n, Value* x, Value* values) {
  const auto& items = n.Get("indices").items;
  if (items.size() != 1 || !items[0].is_tensor() || n.Bool("accumulate")) return false;
  const tern::Type& mask = items[0].tensor->type();
  const bool one =
      values->type.shape.rank() == 0 || (values->type.shape.rank() == 1 && values->type.shape[0].Is(1));
  return mask.dtype == DType::kBool && one && mask.shape.rank() <= x->type.shape.rank() &&
         mask.shape.rank() >= 0;
}

Status IndexPut(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  Value* values = e.Cast(n.In("values"), x->type.dtype);
  const int rank = x->type.shape.rank();
  if (rank < 0) return n.NotYet("a tensor of unknown rank");
  if (IsMaskFill(n, x, values)) {
    Value* mask = n.ValueOf(n.Get("indices").items[0]);
    std::vector<int64_t> missing;
    for (int64_t i = mask->type.shape.rank(); i < rank; ++i) missing.push_back(i);
    if (!missing.empty()) mask = e.Unsqueeze(mask, missing);
    n.Out(e.Where(mask, values, x));
    return {};
  }
  TERN_ASSIGN(const Indices at, IndicesOf(n, rank));
  const int index_rank = IndexRank(at), rest = rank - static_cast<int>(at.dims.size());
  if (index_rank < 0) return n.NotYet("an index of unknown rank");
  const std::vector<int64_t> front = FrontPerm(at, rank), result = ResultPerm(at, index_rank, rest);
  Value *base = Permuted(n.b, x, front), *joined = Joined(n.b, at);
  // The dims of the updates: those of the index tensors, then the other dims of x.
  Value* index_dims = n.b.Op("Shape", {joined}, {{"start", int64_t{0}}, {"end", int64_t{-1}}});
  Value* other_dims = n.b.Op("Shape", {base}, {{"start", static_cast<int64_t>(at.dims.size())}});
  Value* shape = rest == 0 ? index_dims : e.Concat({index_dims, other_dims}, 0);
  if (!IsIdentity(result)) {  // values have the dims of x[indices]
    Value* wanted = n.b.Op("Gather", {shape, n.b.Ints(result)}, {{"axis", int64_t{0}}});
    values = e.Transpose(e.Expand(values, wanted), Inverse(result));
  } else {
    values = e.Expand(values, shape);
  }
  Value* y =
      n.b.Op("ScatterND", {base, joined, values}, {{"reduction", n.Bool("accumulate") ? "add" : "none"}});
  n.Out(Permuted(n.b, y, Inverse(front)));
  return {};
}

Status IndexSelect(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = e.Cast(n.In("index"), DType::kI64);
  if (at->type.shape.rank() == 0) at = e.Reshape(at, {1});
  n.Out(n.b.Op("Gather", {x, at}, {{"axis", n.Int("dim")}}));
  return {};
}

Status Gather(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = e.Cast(n.In("index"), DType::kI64);
  if (x->type.shape.rank() == 0) {
    n.Out(e.Expand(x, e.Shape(at)));
    return {};
  }
  n.Out(n.b.Op("GatherElements", {x, at}, {{"axis", n.Int("dim")}}));
  return {};
}

Status TakeAlong(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = n.In("indices");
  if (!n.Has("dim")) {
    n.Out(n.b.Op("GatherElements", {e.Reshape(x, {-1}), e.Reshape(at, {-1})}, {{"axis", int64_t{0}}}));
    return {};
  }
  // take_along_dim broadcasts all dims except `dim`.
  const int rank = x->type.shape.rank();
  const int64_t axis = Axis(n, n.Int("dim"), rank);
  std::vector<Arg> x_dims, at_dims;
  for (int64_t i = 0; i < rank; ++i) {
    x_dims.push_back(i == axis ? Arg::Int(1) : SizeOf(n.b, at, i));
    at_dims.push_back(i == axis ? Arg::Int(1) : SizeOf(n.b, x, i));
  }
  n.Out(n.b.Op("GatherElements", {e.Expand(x, IntVector(n.b, x_dims)), e.Expand(at, IntVector(n.b, at_dims))},
               {{"axis", axis}}));
  return {};
}

Status Take(AtenNode& n) {
  Emit e(n.b);
  n.Out(n.b.Op("Gather", {e.Reshape(n.In("self"), {-1}), n.In("index")}, {{"axis", int64_t{0}}}));
  return {};
}

// index_add, index_copy, index_fill: the index selects slices along a dim.
Status IndexWrite(AtenNode& n, const char* reduction, const char* source) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = e.Cast(n.In("index"), DType::kI64);
  const int rank = x->type.shape.rank();
  const int64_t axis = Axis(n, n.Int("dim"), rank);
  if (at->type.shape.rank() == 0) at = e.Reshape(at, {1});
  const std::vector<int64_t> perm = MovedPerm(rank, axis, 0);
  Value* base = Permuted(n.b, x, perm);
  Value* updates = nullptr;
  Value* shape = e.Concat({e.Shape(at), n.b.Op("Shape", {base}, {{"start", int64_t{1}}})}, 0);
  if (n.Get(source).is_tensor() && n.In(source)->type.shape.rank() > 0) {
    updates = e.Cast(n.In(source), x->type.dtype);
    if (n.Has("alpha") && n.Float("alpha", 1) != 1) updates = e.Mul(updates, As(n, "alpha", x->type.dtype));
    updates = Permuted(n.b, updates, perm);
  } else {
    updates = e.Expand(As(n, source, x->type.dtype), shape);
  }
  Value* y = n.b.Op("ScatterND", {base, e.Unsqueeze(at, {1}), updates}, {{"reduction", reduction}});
  n.Out(Permuted(n.b, y, Inverse(perm)));
  return {};
}

Status Nonzero(AtenNode& n) {
  Emit e(n.b);
  n.Out(e.Transpose(n.b.Op("NonZero", {n.In("self")}), {1, 0}));
  return {};
}

Status NonzeroNumpy(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  if (rank < 1) return n.NotYet("a tensor of rank ", rank);
  Value* places = n.b.Op("NonZero", {x});
  std::vector<Value*> rows;
  for (int64_t i = 0; i < rank; ++i)
    rows.push_back(n.b.Op("Gather", {places, e.Long(i)}, {{"axis", int64_t{0}}}));
  n.OutList(rows);
  return {};
}

Status MaskedSelect(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *mask = n.In("mask");
  Value* zeros = e.Add(e.Fill(e.Shape(x), DType::kI32, 0), e.Fill(e.Shape(mask), DType::kI32, 0));
  Value* shape = e.Shape(zeros);
  n.Out(n.b.Op("Compress", {e.Reshape(e.Expand(x, shape), {-1}), e.Reshape(e.Expand(mask, shape), {-1})},
               {{"flatten", true}}));
  return {};
}

// Element k of the source replaces the k-th element where the mask is true.
Status MaskedScatter(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *mask = n.In("mask");
  Value* flat = e.Reshape(e.Cast(n.In("source"), x->type.dtype), {-1});
  Value* wide = e.Expand(mask, e.Shape(x));
  Value* order =
      n.b.Op("Cumulative", {e.Cast(e.Reshape(wide, {-1}), DType::kI64), e.Long(0)}, {{"kind", "sum"}});
  Value* at = e.Binary("max", e.Sub(order, e.Long(1)), e.Long(0));
  Value* last = e.Sub(n.b.Op("Size", {flat}), e.Long(1));
  Value* picked = n.b.Op("Gather", {flat, e.Binary("min", at, last)}, {{"axis", int64_t{0}}});
  n.Out(e.Where(wide, e.ReshapeTo(picked, e.Shape(x)), x));
  return {};
}

Status SelectScatter(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *src = e.Cast(n.In("src"), x->type.dtype);
  const int64_t axis = Axis(n, n.Int("dim"), x->type.shape.rank());
  const Arg& index = n.Get("index");
  if (index.known() && index.integer == INT64_MAX) return n.Bad("index ", index.integer);
  Arg end = index.known() && index.integer == -1 ? Arg::None() : Arg::Int(index.integer + 1);
  if (!index.known()) end = Arg::Computed(e.Add(index.value, e.Long(1)));
  n.Out(PutSlice(n.b, x, e.Unsqueeze(src, {axis}), axis, index, end, 1));
  return {};
}

Status SliceScatter(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *src = e.Cast(n.In("src"), x->type.dtype);
  n.Out(PutSlice(n.b, x, src, Axis(n, n.Int("dim"), x->type.shape.rank()), n.Get("start"), n.Get("end"),
                 n.Int("step", 1)));
  return {};
}

Status DiagonalScatter(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const std::vector<Arg> where = {n.Get("offset"), n.Get("dim1"), n.Get("dim2")};
  const auto diagonal = [&](Value* v) -> Result<Value*> {
    const BoundCall call{FindSchema("aten::diagonal", ""),
                         {Arg::Of(TorchContext::NewTensor(v)), where[0], where[1], where[2]},
                         {n.name, n.origin}};
    TERN_ASSIGN(const auto results, Convert(n.context, call));
    return n.context.Read(*results[0].tensor, n.b);
  };
  TERN_ASSIGN(Value * y, ScatterView(n.b, x, e.Cast(n.In("src"), x->type.dtype), diagonal));
  n.Out(y);
  return {};
}

Status Embedding(AtenNode& n) {
  Emit e(n.b);
  Value* at = n.In("indices");
  if (at->type.dtype != DType::kI32) at = e.Cast(at, DType::kI64);
  n.Out(n.b.Op("Gather", {n.In("weight"), at}, {{"axis", int64_t{0}}}));
  return {};
}

// Returns the position at which each value would be inserted into the sorted boundaries.
Status Search(AtenNode& n, const char* sorted, const char* values) {
  Emit e(n.b);
  const DType t = ResultType({&n.Get(sorted), &n.Get(values)});
  Value *edges = As(n, sorted, t), *x = As(n, values, t);
  const bool right = n.Bool("right") || n.Text("side") == "right";
  if (edges->type.shape.rank() > 1) {
    edges = e.Unsqueeze(edges, {-2});
  }
  Value* passed = e.Binary(right ? "less_equal" : "less", edges, e.Unsqueeze(x, {-1}));
  n.Out(e.Cast(e.Reduce("sum", e.Cast(passed, DType::kI64), {-1}, false),
               n.Bool("out_int32") ? DType::kI32 : DType::kI64));
  return {};
}

Status IsIn(AtenNode& n) {
  Emit e(n.b);
  const DType t = ResultType({&n.Get("elements"), &n.Get("test_elements")});
  Value *x = As(n, "elements", t), *set = As(n, "test_elements", t);
  Value* equal = e.Binary("equal", e.Unsqueeze(x, {-1}), e.Reshape(set, {-1}));
  Value* found = e.Cast(e.Reduce("max", e.Cast(equal, DType::kI32), {-1}, false), DType::kBool);
  n.Out(n.Bool("invert") ? e.Not(found) : found);
  return {};
}

}  // namespace

TERN_CONVERTERS(index) {
  table.Add("aten::index", Index);
  table.Add("aten::_unsafe_index", Index);
  table.Add("aten::index_put", IndexPut);
  table.Add("aten::_unsafe_index_put", IndexPut);
  table.Add("aten::index_select", IndexSelect);
  table.Add("aten::gather", Gather);
  table.Add("aten::take_along_dim", TakeAlong);
  table.Add("aten::take", Take);
  table.Add("aten::index_add", [](AtenNode& n) { return IndexWrite(n, "add", "source"); });
  table.Add("aten::index_copy", [](AtenNode& n) { return IndexWrite(n, "none", "source"); });
  table.Add("aten::index_fill", [](AtenNode& n) { return IndexWrite(n, "none", "value"); });
  table.Add("aten::nonzero", Nonzero);
  table.Add("aten::nonzero_numpy", NonzeroNumpy);
  table.Add("aten::argwhere", Nonzero);
  table.Add("aten::masked_select", MaskedSelect);
  table.Add("aten::masked_scatter", MaskedScatter);
  table.Add("aten::select_scatter", SelectScatter);
  table.Add("aten::slice_scatter", SliceScatter);
  table.Add("aten::diagonal_scatter", DiagonalScatter);
  table.Add("aten::embedding", Embedding);
  table.Add("aten::bucketize", [](AtenNode& n) { return Search(n, "boundaries", "self"); });
  table.Add("aten::searchsorted", [](AtenNode& n) { return Search(n, "sorted_sequence", "self"); });
  table.Add("aten::isin", IsIn);
}

}  // namespace tern::torch
