// Converts operators that read and write elements by indices.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// The dims of the result are the dims of x before `axis`, the dims of the indices after the batch dims, and
// the dims of x after `axis`.
Status Gather(LiteNode& n) {
  const auto& o = n.Options<fb::GatherOptions>();
  Builder& b = n.b;
  Value *x = n.In(0), *indices = Longs64(b, n.In(1));
  const int rank = n.RankOf(0), index_rank = indices->type.shape.rank();
  TERN_ASSIGN(const int64_t axis, AxisOf(n, o.axis(), rank));
  const int64_t batch = o.batch_dims() < 0 ? o.batch_dims() + index_rank : o.batch_dims();
  if (batch == 0) {
    n.Out(0, b.Op("Gather", {x, indices}, {{"axis", axis}}));
    return {};
  }
  if (batch < 0 || batch > axis || batch > index_rank)
    return n.Bad("has ", o.batch_dims(), " batch dims and the axis ", axis);
  // Moves the axis behind the batch dims, gathers tuples of one index, and moves the dims of the indices
  // back.
  std::vector<int64_t> perm, back;
  for (int64_t i = 0; i < batch; ++i) perm.push_back(i);
  perm.push_back(axis);
  for (int64_t i = batch; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  Value* y =
      b.Op("GatherND", {Transposed(b, x, perm), Unsqueezed(b, indices, {-1})}, {{"batch_dims", batch}});
  const int64_t chosen = index_rank - batch, between = axis - batch;
  for (int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (int64_t i = 0; i < between; ++i) back.push_back(batch + chosen + i);
  for (int64_t i = 0; i < chosen; ++i) back.push_back(batch + i);
  for (int64_t i = batch + chosen + between; i < rank - 1 + chosen; ++i) back.push_back(i);
  n.Out(0, Transposed(b, y, back));
  return {};
}

Status GatherNd(LiteNode& n) {
  n.Out(0, n.b.Op("GatherND", {n.In(0), Longs64(n.b, n.In(1))}));
  return {};
}

// Updates with the same index are added.
Status ScatterNd(LiteNode& n) {
  Value* updates = n.In(1);
  Value* zeros = n.b.Op("Fill", {Longs64(n.b, n.In(2))}, {{"value", Tensor(updates->type.dtype, {1})}});
  const bool adds = updates->type.dtype != DType::kBool;
  n.Out(0,
        n.b.Op("ScatterND", {zeros, Longs64(n.b, n.In(0)), updates}, {{"reduction", adds ? "add" : "none"}}));
  return {};
}

// The inputs are indices, the result's shape, values and the default. Indices are a number, a vector, or one
// row per element.
Status SparseToDense(LiteNode& n) {
  Builder& b = n.b;
  Value *indices = Longs64(b, n.In(0)), *values = n.In(2);
  const int rank = indices->type.shape.rank();
  Value* dense = b.Op("Expand", {Reshaped(b, n.In(3), {}), Longs64(b, n.In(1))});
  if (rank < 2) indices = Reshaped(b, indices, {-1, 1});
  Value* count = DimOf(b, indices, 0);
  values = b.Op("Expand", {values, count});
  n.Out(0, b.Op("ScatterND", {dense, indices, values}));
  return {};
}

Status OneHot(LiteNode& n) {
  Builder& b = n.b;
  Value *on = Reshaped(b, n.In(2), {1}), *off = Reshaped(b, n.In(3), {1});
  Value* depth = Reshaped(b, Longs64(b, n.In(1)), {});
  // In Tern, a negative index counts from the end. In TensorFlow, it selects nothing.
  Value* indices = Longs64(b, n.In(0));
  indices = b.Op("Where", {Binary(b, "less", indices, b.Scalar(DType::kI64, 0)), depth, indices});
  n.Out(0, b.Op("OneHot", {indices, depth, Joined(b, {off, on}, 0)},
                {{"axis", int64_t{n.Options<fb::OneHotOptions>().axis()}}}));
  return {};
}

Status Where(LiteNode& n) {
  n.Out(0, Transposed(n.b, n.b.Op("NonZero", {n.In(0)}), {1, 0}));
  return {};
}

// Returns the distinct elements in the order of their first occurrence, and the position of each element of x
// among them.
Status Unique(LiteNode& n) {
  const auto found = n.b.Ops("Unique", {n.In(0)}, {{"sorted", false}}, 3);
  n.Out(0, found[0]);
  n.Out(1, found[2]);
  return {};
}

// The largest number of integers that an index constant may have.
constexpr int64_t kMaxIndices = int64_t{1} << 24;

// Writes an update at the position that input 2 states. Positions beyond the end are moved back. Trailing
// axes that the update covers need no index.
Status DynamicUpdateSlice(LiteNode& n) {
  Builder& b = n.b;
  Value *x = n.In(0), *update = n.In(1), *start = Longs64(b, n.In(2));
  const Shape& size = update->type.shape;
  int lead = n.RankOf(0);
  if (size.rank() != lead || !size.fully_known()) return n.NotYet("an update of unknown size");
  while (lead > 0 && x->type.shape[lead - 1] == size[lead - 1]) --lead;
  if (lead == 0) {
    n.Out(0, update);
    return {};
  }
  Dims dims = size.Concrete();
  dims.resize(static_cast<size_t>(lead));
  const auto count = CheckedCount(dims, DType::kI64);
  if (!count || *count * lead > kMaxIndices) return n.NotYet("an update of that many elements");
  Value* room = Binary(b, "sub", ShapeOf(b, x), ShapeOf(b, update));
  start = Sliced(b, Binary(b, "max", Binary(b, "min", start, room), b.Ints({0})), 0, 0, lead);
  // The index of each slice of the update, [size…, lead].
  const Dims strides = ContiguousStrides(dims);
  Dims index_dims = dims;
  index_dims.push_back(lead);
  Tensor at(DType::kI64, index_dims);
  for (int64_t i = 0; i < *count; ++i)
    for (int k = 0; k < lead; ++k)
      at.data<int64_t>()[i * lead + k] = i / strides[static_cast<size_t>(k)] % dims[static_cast<size_t>(k)];
  n.Out(0, b.Op("ScatterND", {x, Binary(b, "add", b.Const(at), start), update}));
  return {};
}

// Returns the number of boundaries that are at most x.
Status Bucketize(LiteNode& n) {
  const auto* boundaries = n.Options<fb::BucketizeOptions>().boundaries();
  Builder& b = n.b;
  Value* x = CastTo(b, n.In(0), DType::kF64);
  std::vector<double> values;
  if (boundaries) values.assign(boundaries->begin(), boundaries->end());
  if (values.empty()) return n.Bad("has no boundaries");
  Value* edges = b.Const(Tensor::Of(DType::kF64, {static_cast<int64_t>(values.size())}, values));
  Value* above = Binary(b, "greater_equal", Unsqueezed(b, x, {-1}), edges);
  n.Out(0, Reduced(b, "sum", CastTo(b, above, DType::kI32), {-1}, false));
  return {};
}

// Returns a matrix of bools that is true on the diagonal.
Value* Diagonal(Builder& b, int64_t rows, int64_t columns) {
  return b.Op("EyeLike", {b.Op("Fill", {b.Ints({rows, columns})}, {{"value", Tensor(DType::kBool, {1})}})});
}

// Emits matrices with the rows of x (its last dim) on their diagonals.
Status MatrixDiag(LiteNode& n) {
  Builder& b = n.b;
  Value* x = n.In(0);
  if (n.RankOf(0) < 1) return n.Bad("the input has no dims");
  const Dim& size = x->type.shape[-1];
  if (!size.known()) return n.NotYet("an input of unknown size");
  Value* eye = CastTo(b, Diagonal(b, size.value(), size.value()), DType::kBool);
  n.Out(0, b.Op("Where", {eye, Unsqueezed(b, x, {-2}), b.Const(Tensor(x->type.dtype, {}))}));
  return {};
}

Status MatrixSetDiag(LiteNode& n) {
  Builder& b = n.b;
  Value *x = n.In(0), *diagonal = n.In(1);
  if (n.RankOf(0) < 2 || n.RankOf(1) < 1) return n.Bad("the inputs have too few dims");
  const Dim &rows = x->type.shape[-2], &columns = x->type.shape[-1];
  if (!rows.known() || !columns.known()) return n.NotYet("an input of unknown size");
  if (columns.value() > rows.value()) {
    const int64_t missing = columns.value() - rows.value(), rank = n.RankOf(1);
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank));
    pads.back() = missing;
    diagonal = b.Op("Pad", {diagonal, b.Ints(pads)});
  }
  Value* eye = CastTo(b, Diagonal(b, rows.value(), columns.value()), DType::kBool);
  n.Out(0, b.Op("Where", {eye, Unsqueezed(b, diagonal, {-2}), x}));
  return {};
}

}  // namespace

TERN_CONVERTERS(gather) {
  table.Add("GATHER", 2, Gather);
  table.Add("GATHER_ND", 2, GatherNd);
  table.Add("SCATTER_ND", 3, ScatterNd);
  table.Add("SPARSE_TO_DENSE", 4, SparseToDense);
  table.Add("ONE_HOT", 4, OneHot);
  table.Add("WHERE", 1, Where);
  table.Add("UNIQUE", 1, Unique);
  table.Add("DYNAMIC_UPDATE_SLICE", 3, DynamicUpdateSlice);
  table.Add("BUCKETIZE", 1, Bucketize);
  table.Add("MATRIX_DIAG", 1, MatrixDiag);
  table.Add("MATRIX_SET_DIAG", 2, MatrixSetDiag);
}

}  // namespace tern::tflite
