// Converts primitives that read and write elements at indices.
#include "import/mindir/ops/promote.h"
#include "import/mindir/ops/shape_value.h"

namespace tern::mindir {
namespace {

// Returns input i as indices of a type that Tern accepts.
Value* IndexIn(MindNode& n, int i) {
  Emit e(n);
  Value* index = n.In(i);
  const DType t = index->type.dtype;
  return t == DType::kI32 || t == DType::kI64 ? index : e.Cast(index, DType::kI64);
}

Status NeedInputs(MindNode& n, int count) {
  for (int i = 0; i < count; ++i)
    if (!n.Has(i)) return n.Bad("input ", i, " is missing");
  return {};
}

// Inputs: x, indices, axis, batch_dims.
Status Gather(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  TERN_TRY(RequireRank(n, 0, 1));
  const int64_t batch = n.Int(3, {"batch_dims"}, 0);
  int64_t axis = n.Int(2, {"axis"}, 0);
  axis += axis < 0 ? n.RankOf(0) : 0;
  Emit e(n);
  if (batch == 0) {
    n.Out(e.Gather(n.In(0), IndexIn(n, 1), axis));
    return {};
  }
  TERN_TRY(RequireRank(n, 1, 1));
  if (axis != batch || n.RankOf(1) != static_cast<int>(batch) + 1)
    return n.NotYet("batch_dims ", batch, " with axis ", axis, " and indices of rank ", n.RankOf(1));
  n.Out(n.b.Op("GatherND", {n.In(0), e.Unsqueeze(e.Cast(IndexIn(n, 1), DType::kI64), {-1})},
               {{"batch_dims", batch}}));
  return {};
}

// Selects elements. Inputs: x, dim, index.
Status GatherD(MindNode& n) {
  TERN_TRY(NeedInputs(n, 3));
  n.Out(n.b.Op("GatherElements", {n.In(0), IndexIn(n, 2)}, {{"axis", n.Int(1, {})}}));
  return {};
}

Status GatherNd(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  Emit e(n);
  n.Out(n.b.Op("GatherND", {n.In(0), e.Cast(n.In(1), DType::kI64)}));
  return {};
}

// Inputs of Embedding: indices, weight.
Status Embedding(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  if (n.Arg(3, {"max_norm"})) return n.NotYet("max_norm");
  Emit e(n);
  n.Out(e.Gather(n.In(1), IndexIn(n, 0)));
  return {};
}

// Inputs of EmbeddingLookup: table, indices, offset.
Status EmbeddingLookup(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  Emit e(n);
  if (n.Int(2, {"offset"}, 0) != 0) return n.NotYet("offset ", n.Int(2, {"offset"}, 0));
  n.Out(e.Gather(n.In(0), IndexIn(n, 1)));
  return {};
}

// Inputs of IndexSelect: x, dim, index.
Status IndexSelect(MindNode& n) {
  TERN_TRY(NeedInputs(n, 3));
  Emit e(n);
  n.Out(e.Gather(n.In(0), IndexIn(n, 2), n.Int(1, {})));
  return {};
}

// Selects elements of the flat tensor.
Status Take(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  Emit e(n);
  n.Out(e.Gather(e.Reshape(n.In(0), {-1}), IndexIn(n, 1)));
  return {};
}

// indices, depth, on_value, off_value, axis. Indices outside [0, depth) give rows of off_value.
Status OneHot(MindNode& n) {
  TERN_TRY(NeedInputs(n, 4));
  Emit e(n);
  int64_t depth = n.Int(1, {"depth"}, 1);
  if (depth < 0) return n.NotYet("a depth that the values determine");
  const auto [on, off] = Promoted(e, 2, 3);
  Value* index = e.Cast(n.In(0), DType::kI64);
  // Tern counts negative indices from the end.
  index = e.Where(e.Binary("less", index, e.Long(0)), e.Long(depth), index);
  Value* values = e.Concat({e.Reshape(off, {1}), e.Reshape(on, {1})}, 0);
  n.Out(n.b.Op("OneHot", {index, n.b.Ints({depth}), values}, {{"axis", n.Int(4, {"axis"}, -1)}}));
  return {};
}

// Inputs of TensorScatterUpdate, TensorScatterAdd, …: x, indices, updates.
Converter ScatterNd(const char* reduction, bool negate = false) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(NeedInputs(n, 3));
    Emit e(n);
    Value* updates = n.In(2);
    if (negate) updates = e.Unary("neg", updates);
    n.Out(n.b.Op("ScatterND", {n.In(0), e.Cast(n.In(1), DType::kI64), updates}, {{"reduction", reduction}}));
    return {};
  };
}

// Adds the updates to zeros. Inputs of ScatterNd: indices, updates, shape.
Status ScatterNdZeros(MindNode& n) {
  TERN_TRY(NeedInputs(n, 3));
  Emit e(n);
  Value* zeros = e.Fill(ShapeValue(n, 2), n.In(1)->type.dtype, 0);
  n.Out(n.b.Op("ScatterND", {zeros, e.Cast(n.In(0), DType::kI64), n.In(1)}, {{"reduction", "add"}}));
  return {};
}

// Inputs: x, indices, updates, axis, reduction.
Status ScatterElements(MindNode& n) {
  TERN_TRY(NeedInputs(n, 3));
  const std::string reduce = n.Text(4, {"reduce", "reduction"}, "none", {"none", "add", "mul"});
  if (reduce != "none" && reduce != "add" && reduce != "mul" && reduce != "max" && reduce != "min")
    return n.NotYet("reduction ", reduce);
  n.Out(n.b.Op("ScatterElements", {n.In(0), IndexIn(n, 1), n.In(2)},
               {{"axis", n.Int(3, {"axis"})}, {"reduction", reduce}}));
  return {};
}

// Inputs of ScatterAddExt and Scatter: x, dim, index, src, reduction.
Status ScatterExt(MindNode& n) {
  TERN_TRY(NeedInputs(n, 4));
  const char* standard = n.op() == "ScatterAddExt" ? "add" : "none";
  const std::string reduce = n.Text(4, {"reduce"}, standard, {"none", "add"});
  if (reduce != "none" && reduce != "add") return n.NotYet("reduction ", reduce);
  Emit e(n);
  Value* source = n.In(3);
  if (n.op() == "ScatterValue") source = e.Expand(e.Cast(source, n.In(0)->type.dtype), e.ShapeOf(n.In(2)));
  n.Out(n.b.Op("ScatterElements", {n.In(0), IndexIn(n, 2), source},
               {{"axis", n.Int(1, {})}, {"reduction", reduce}}));
  return {};
}

// Returns the index vector of axis `axis`, expanded to the shape of `slices`.
Value* SpreadIndex(Emit& e, Value* index, Value* slices, int64_t axis) {
  std::vector<int64_t> dims(static_cast<size_t>(slices->type.shape.rank()), 1);
  dims[static_cast<size_t>(axis)] = -1;
  return e.Expand(e.Reshape(index, dims), e.ShapeOf(slices));
}

// Inputs of IndexAdd: x, index, y. Its axis is an attribute. Inputs of IndexAddExt: x, dim, index, source,
// alpha.
Status IndexAdd(MindNode& n) {
  TERN_TRY(NeedInputs(n, 3));
  const bool ext = n.op() == "IndexAddExt";
  TERN_TRY(NeedInputs(n, ext ? 4 : 3));
  TERN_TRY(RequireRank(n, 0, 1));
  int64_t axis = ext ? n.Int(1, {}) : n.Int(n.kAttribute, {"axis"}, 0);
  axis += axis < 0 ? n.RankOf(0) : 0;
  if (axis < 0 || axis >= n.RankOf(0)) return n.Bad("axis ", axis);
  Emit e(n);
  Value *index = IndexIn(n, ext ? 2 : 1), *y = n.In(ext ? 3 : 2);
  if (y->type.shape.rank() != n.RankOf(0)) return n.Bad("the ranks of the tensors differ");
  if (ext && n.Float(4, {"alpha"}, 1) != 1) y = e.Mul(y, e.Like(y, n.Float(4, {"alpha"}, 1)));
  n.Out(n.b.Op("ScatterElements", {n.In(0), SpreadIndex(e, index, y, axis), y},
               {{"axis", axis}, {"reduction", "add"}}));
  return {};
}

// Inputs of UnsortedSegmentSum and others: x, segment ids, count.
Converter Segments(const char* reduction, double start) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(NeedInputs(n, 3));
    TERN_TRY(RequireRank(n, 0, 1));
    TERN_TRY(RequireRank(n, 1, 1, 1));
    Emit e(n);
    Value* x = n.In(0);
    std::vector<Value*> dims = {e.Reshape(e.Cast(n.In(2), DType::kI64), {1})};
    for (int i = 1; i < n.RankOf(0); ++i) dims.push_back(e.SizeOf(x, i));
    Value* base = e.Fill(e.Concat(dims, 0), x->type.dtype, start);
    Value* index = e.Unsqueeze(e.Cast(n.In(1), DType::kI64), {1});
    n.Out(n.b.Op("ScatterND", {base, index, x}, {{"reduction", reduction}}));
    return {};
  };
}

// The indices of nonzero elements, one row per element.
Status NonZero(MindNode& n) {
  TERN_TRY(NeedInputs(n, 1));
  Emit e(n);
  n.Out(e.Transpose(n.b.Op("NonZero", {n.In(0)}), {1, 0}));
  return {};
}

Status MaskedSelect(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  Emit e(n);
  Value *x = n.In(0), *mask = n.In(1);
  if (!(x->type.shape == mask->type.shape)) {
    mask = e.Expand(mask, e.ShapeOf(x));
    x = e.Expand(x, e.ShapeOf(mask));
  }
  n.Out(n.b.Op("Compress", {e.Reshape(x, {-1}), e.Reshape(mask, {-1})}, {{"flatten", true}}));
  return {};
}

Status ReverseSequence(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  const int64_t time = n.Int(n.kAttribute, {"seq_dim"}, 0), batch = n.Int(n.kAttribute, {"batch_dim"}, 0);
  if (!((time == 0 && batch == 1) || (time == 1 && batch == 0)))
    return n.NotYet("seq_dim ", time, " with batch_dim ", batch);
  n.Out(n.b.Op("ReverseSequence", {n.In(0), IndexIn(n, 1)}, {{"time_axis", time}, {"batch_axis", batch}}));
  return {};
}

// Repeats each element. Inputs: x, repeats, dim, output_size.
Status RepeatInterleave(MindNode& n) {
  TERN_TRY(NeedInputs(n, 2));
  TERN_TRY(RequireRank(n, 0, 1));
  Emit e(n);
  const int64_t repeats = n.Int(1, {}, 1);
  if (repeats < 1) return n.NotYet("repeats ", repeats);
  Value* x = n.In(0);
  int64_t axis = n.Int(2, {"dim"}, 0);
  if (!n.Arg(2, {"dim"})) x = e.Reshape(x, {-1});
  const int64_t rank = x->type.shape.rank();
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) return n.Bad("axis ", axis);
  std::vector<int64_t> tiles(static_cast<size_t>(rank) + 1, 1);
  tiles[static_cast<size_t>(axis) + 1] = repeats;
  std::vector<Value*> dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(i == axis ? n.b.Ints({-1}) : e.SizeOf(x, i));
  n.Out(e.ReshapeTo(n.b.Op("Tile", {e.Unsqueeze(x, {axis + 1}), n.b.Ints(tiles)}), e.Concat(dims, 0)));
  return {};
}

void AddScatters(ConverterTable& table) {
  for (const char* name : {"TensorScatterUpdate", "ScatterNdUpdate"}) table.Add(name, ScatterNd("none"));
  table.Add("TensorScatterAdd", ScatterNd("add"));
  table.Add("TensorScatterSub", ScatterNd("add", true));
  table.Add("TensorScatterMul", ScatterNd("mul"));
  table.Add("TensorScatterMax", ScatterNd("max"));
  table.Add("TensorScatterMin", ScatterNd("min"));
  table.Add("ScatterNd", ScatterNdZeros);
  table.Add("TensorScatterElements", ScatterElements);
  for (const char* name : {"ScatterAddExt", "Scatter", "ScatterValue"}) table.Add(name, ScatterExt);
  for (const char* name : {"IndexAdd", "IndexAddExt"}) table.Add(name, IndexAdd);
  table.Add("UnsortedSegmentSum", Segments("add", 0));
  table.Add("UnsortedSegmentProd", Segments("mul", 1));
}

}  // namespace

TERN_CONVERTERS(gather) {
  AddScatters(table);
  for (const char* name : {"Gather", "GatherV2", "SparseGatherV2"}) table.Add(name, Gather);
  table.Add("GatherD", GatherD);
  for (const char* name : {"GatherNd", "GatherNdExt"}) table.Add(name, GatherNd);
  table.Add("Embedding", Embedding);
  table.Add("EmbeddingLookup", EmbeddingLookup);
  table.Add("IndexSelect", IndexSelect);
  table.Add("Take", Take);
  for (const char* name : {"OneHot", "OneHotExt"}) table.Add(name, OneHot);
  for (const char* name : {"NonZero", "InnerNonZero"}) table.Add(name, NonZero);
  table.Add("MaskedSelect", MaskedSelect);
  table.Add("ReverseSequence", ReverseSequence);
  table.Add("RepeatInterleaveInt", RepeatInterleave);
}

}  // namespace tern::mindir
