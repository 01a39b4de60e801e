// Converts operators that select or write elements by index.
#include <algorithm>

#include "import/tensorflow/body_importer.h"

namespace tern::tensorflow {
namespace {

Edge SameIndices(TfNode& n, int i, Value* v) {
  Edge e(v);
  e.complex = n.IsComplex(i);
  return e;
}

// Gathers from tensors that share `batch` leading axes. The indices of a sample select from the same sample.
Result<Value*> BatchGather(TfNode& n, Value* x, Value* indices, int64_t axis, int64_t batch) {
  TERN_ASSIGN(const int rank, n.RankOf(x));
  TERN_ASSIGN(const int own, n.RankOf(indices));
  if (batch < 0) batch += own;
  if (axis < 0) axis += rank;
  if (batch < 0 || batch > own || axis < batch || axis >= rank)
    return n.Bad("axis ", axis, " and batch_dims ", batch, " do not fit");
  if (batch == 0) return n.Op("Gather", {x, indices}, {{"axis", axis}});
  // Brings the axis right behind the batch. GatherND then takes tuples of one index.
  std::vector<int64_t> perm, back;
  for (int64_t i = 0; i < batch; ++i) perm.push_back(i);
  perm.push_back(axis);
  for (int64_t i = batch; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  Value* moved = axis == batch ? x : n.Transpose(x, perm);
  Value* y =
      n.Op("GatherND", {moved, n.Unsqueeze(n.Cast(indices, DType::kI64), {-1})}, {{"batch_dims", batch}});
  if (axis == batch) return y;
  // y is [batch…, indices…, x's axes between batch and axis, the others].
  const int64_t chosen = own - batch, between = axis - batch;
  for (int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (int64_t i = 0; i < between; ++i) back.push_back(own + i);
  for (int64_t i = 0; i < chosen; ++i) back.push_back(batch + i);
  for (int64_t i = own + between; i < own + rank - batch - 1; ++i) back.push_back(i);
  return n.Transpose(y, back);
}

Status GatherV1(TfNode& n) {
  n.Out(0, SameIndices(n, 0, n.Op("Gather", {n.In(0), n.In(1)}, {{"axis", 0}})));
  return {};
}

Status GatherV2(TfNode& n) {
  TERN_ASSIGN(int64_t axis, n.Long(2, "axis"));
  if (n.IsComplex(0) && axis < 0) --axis;
  TERN_ASSIGN(Value * y, BatchGather(n, n.In(0), n.In(1), axis, n.Int("batch_dims")));
  n.Out(0, SameIndices(n, 0, y));
  return {};
}

Status GatherNd(TfNode& n) {
  n.Out(0, SameIndices(n, 0, n.Op("GatherND", {n.In(0), n.In(1)})));
  return {};
}

Result<Value*> GatherVariableAt(TfNode& n, int i) {
  const Edge& edge = n.At(i);
  if (!edge.resource) return n.Bad("input ", i, " is not a variable");
  return n.importer().ReadVariable(*edge.resource);
}

Status ResourceGather(TfNode& n) {
  TERN_ASSIGN(Value * x, GatherVariableAt(n, 0));
  TERN_ASSIGN(Value * y, BatchGather(n, x, n.In(1), n.Int("batch_dims"), n.Int("batch_dims")));
  n.Out(0, y);
  return {};
}

Status ResourceGatherNd(TfNode& n) {
  TERN_ASSIGN(Value * x, GatherVariableAt(n, 0));
  n.Out(0, n.Op("GatherND", {x, n.In(1)}));
  return {};
}

// In TensorFlow, an index out of range gives only off_value. Tern's OneHot counts negative indices from the
// end, so they are replaced by depth, which is out of range.
Status OneHot(TfNode& n) {
  Value* indices = n.Cast(n.In(0), DType::kI64);
  Value* depth = n.Cast(n.Op("Reshape", {n.In(1), n.b.Ints({})}), DType::kI64);
  Value* values = n.Concat({n.Vector(n.In(3)), n.Vector(n.In(2))}, 0);
  indices = n.Op("Where", {n.Binary("less", indices, n.b.Scalar(DType::kI64, 0)), depth, indices});
  n.Out(0, n.Op("OneHot", {indices, depth, values}, {{"axis", n.Int("axis")}}));
  return {};
}

Status Where(TfNode& n) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  n.Out(0, n.Transpose(n.Op("NonZero", {n.In(0)}), {1, 0}));
  return {};
}

Status Unique(TfNode& n, bool counts, bool axis_input) {
  DType index = DType::kI32;
  if (n.HasAttr("out_idx")) {
    TERN_ASSIGN(index, n.DTypeAttr("out_idx"));
  }
  AttrList attrs = {{"sorted", false}};
  if (axis_input && n.In(1)->type.shape.rank() == 1 && !n.In(1)->type.shape[0].Is(0)) {
    TERN_ASSIGN(const int rank, n.RankOf(0));
    TERN_ASSIGN(const int64_t axis, n.Axis(1, rank));
    attrs.emplace_back("flatten", false);
    attrs.emplace_back("axis", axis);
  }
  const auto out = n.Ops("Unique", {n.In(0)}, attrs, 4);
  n.Out(0, out[0]);
  n.Out(1, n.Cast(out[2], index));
  if (counts) n.Out(2, n.Cast(out[3], index));
  return {};
}

// Writes updates to a tensor of zeros. Updates of equal indices add up.
Status ScatterNd(TfNode& n) {
  Value* updates = n.In(1);
  if (updates->type.dtype == DType::kString || updates->type.dtype == DType::kBool)
    return n.NotYet("updates of type ", DTypeName(updates->type.dtype));
  Value* zeros = n.Op("Fill", {n.In(2)}, {{"value", n.Numbers(updates->type.dtype, {1}, {0})}});
  n.Out(0, n.Op("ScatterND", {zeros, n.In(0), updates}, {{"reduction", "add"}}));
  return {};
}

Converter TensorScatter(const char* reduction, bool negate = false) {
  return [=](TfNode& n) -> Status {
    Value* updates = n.In(2);
    if (negate) updates = n.Unary("neg", updates);
    n.Out(0, n.Op("ScatterND", {n.In(0), n.In(1), updates}, {{"reduction", reduction}}));
    return {};
  };
}

// y[x[i]] = i
Status InvertPermutation(TfNode& n) {
  Value* x = n.In(0);
  Value* size = n.Op("Size", {x});
  Value* positions =
      n.Cast(n.Op("Range", {n.b.Scalar(DType::kI64, 0), size, n.b.Scalar(DType::kI64, 1)}), x->type.dtype);
  n.Out(0, n.Op("ScatterElements", {x, x, positions}, {{"axis", 0}}));
  return {};
}

// Returns, for each k, the slices of x whose partition is k.
Status DynamicPartition(TfNode& n) {
  const int64_t count = n.Int("num_partitions");
  if (count < 1 || count > 10000) return n.Bad("num_partitions is ", count);
  TERN_ASSIGN(const int rank, n.RankOf(1));
  Value *x = n.In(0), *parts = n.In(1);
  if (rank != 1) {
    // Several axes of partitions count as one.
    Value* rest = n.Op("Shape", {x}, {{"start", rank}});
    x = n.Op("Reshape", {x, n.Concat({n.b.Ints({-1}), rest}, 0)});
    parts = n.Vector(parts);
  }
  for (int64_t i = 0; i < count; ++i)
    n.Out(static_cast<int>(i),
          SameIndices(n, 0,
                      n.Op("Compress", {x, n.Binary("equal", parts, n.Like(parts, static_cast<double>(i)))},
                           {{"flatten", false}, {"axis", 0}})));
  return {};
}

// Writes each slice of data to its index. Later slices win.
Status DynamicStitch(TfNode& n) {
  const int count = n.InputCount() / 2;
  if (count == 0 || n.IsComplex(count)) return n.NotYet("no data, or complex data");
  std::vector<Value*> indices, data;
  for (int i = 0; i < count; ++i) {
    TERN_ASSIGN(const int rank, n.RankOf(i));
    indices.push_back(n.Vector(n.In(i)));
    Value* rest = n.Op("Shape", {n.In(count + i)}, {{"start", rank}});
    data.push_back(n.Op("Reshape", {n.In(count + i), n.Concat({n.b.Ints({-1}), rest}, 0)}));
  }
  Value* index = n.Cast(count == 1 ? indices[0] : n.Concat(indices, 0), DType::kI64);
  Value* all = count == 1 ? data[0] : n.Concat(data, 0);
  Value* length = n.Vector(n.Binary("add", n.Op("Reduce", {index}, {{"kind", "max"}, {"keep_dims", false}}),
                                    n.b.Scalar(DType::kI64, 1)));
  Value* shape = n.Concat({length, n.Op("Shape", {all}, {{"start", 1}})}, 0);
  Value* zeros = n.Op("Fill", {shape}, {{"value", n.Numbers(all->type.dtype, {1}, {0})}});
  n.Out(0, n.Op("ScatterND", {zeros, n.Unsqueeze(index, {1}), all}));
  return {};
}

// Returns the elements of x that are not in y, and their positions.
Status ListDiff(TfNode& n) {
  TERN_ASSIGN(const DType index, n.DTypeAttr("out_idx"));
  Value* same = n.Binary("equal", n.Unsqueeze(n.In(0), {1}), n.Unsqueeze(n.In(1), {0}));
  Value* count = n.Reduce("sum", n.Cast(same, DType::kI32), {1}, false);
  Value* alone = n.Binary("equal", count, n.Like(count, 0));
  n.Out(0, n.Op("Compress", {n.In(0), alone}, {{"flatten", false}, {"axis", 0}}));
  n.Out(1, n.Cast(n.Vector(n.Op("NonZero", {alone})), index));
  return {};
}

// Counts, per row, how many of the sorted numbers are smaller (or not larger) than each value.
Status Bound(TfNode& n, const char* compare) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("out_type"));
  Value* below = n.Binary(compare, n.Unsqueeze(n.In(0), {1}), n.Unsqueeze(n.In(1), {2}));
  n.Out(0, n.Cast(n.Reduce("sum", n.Cast(below, DType::kI32), {2}, false), to));
  return {};
}

Status Bucketize(TfNode& n) {
  const auto limits = n.Floats("boundaries");
  const std::vector<double> wide(limits.begin(), limits.end());
  Value* bounds = n.b.Const(Tensor::Of(DType::kF32, {static_cast<int64_t>(wide.size())}, wide));
  Value* x = n.Unsqueeze(n.Cast(n.In(0), DType::kF32), {-1});
  n.Out(0, n.Reduce("sum", n.Cast(n.Binary("greater_equal", x, bounds), DType::kI32), {-1}, false));
  return {};
}

// Counts, per row, the elements that equal 0, 1, …, size - 1, or sums their weights.
Status Bincount(TfNode& n) {
  Value *x = n.In(0), *weights = n.In(2);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  const bool binary = n.HasAttr("binary_output") && n.Bool("binary_output");
  const auto& dims = weights->type.shape;
  if (!dims.ranked) return n.NotYet("weights of unknown rank");
  const bool weighted = dims.rank() > 0 && !dims[0].Is(0);
  const DType to = weights->type.dtype;
  if (rank != 1 && n.op() == "Bincount") x = n.Vector(x);
  Value* one = n.Op("OneHot",
                    {x, n.Cast(n.Op("Reshape", {n.In(1), n.b.Ints({})}), DType::kI64),
                     n.b.Const(n.Numbers(to, {2}, {0, 1}))},
                    {{"axis", -1}});
  // Tern's OneHot counts negative values from the end. This does not matter, because TensorFlow refuses them.
  const int64_t axis = n.op() == "DenseBincount" && rank == 2 ? 1 : 0;
  if (binary) {
    n.Out(0, n.Reduce("max", one, {axis}, false));
    return {};
  }
  if (weighted)
    one = n.Binary("mul", one, n.Unsqueeze(n.op() == "Bincount" ? n.Vector(weights) : weights, {-1}));
  n.Out(0, n.Reduce("sum", one, {axis}, false));
  return {};
}

// Inputs: sparse_indices, output_shape, sparse_values, default_value.
Status SparseToDense(TfNode& n) {
  Value *indices = n.In(0), *values = n.In(2);
  TERN_ASSIGN(const int rank, n.RankOf(indices));
  Value* base = n.Op("Expand", {n.In(3), n.In(1)});
  if (rank == 0) indices = n.Reshape(indices, {1, 1});
  if (rank == 1) indices = n.Unsqueeze(indices, {1});
  TERN_ASSIGN(const int own, n.RankOf(values));
  if (own == 0) values = n.Op("Expand", {values, n.Op("Shape", {indices}, {{"end", 1}})});
  n.Out(0, n.Op("ScatterND", {base, indices, values}));
  return {};
}

}  // namespace

TERN_CONVERTERS(gather) {
  table.Add("Gather", GatherV1);
  table.Add("GatherV2", GatherV2);
  table.Add("GatherNd", GatherNd);
  table.Add("ResourceGather", ResourceGather);
  table.Add("ResourceGatherNd", ResourceGatherNd);
  table.Add("OneHot", OneHot);
  table.Add("Where", Where);
  table.Add("Unique", [](TfNode& n) { return Unique(n, false, false); });
  table.Add("UniqueV2", [](TfNode& n) { return Unique(n, false, true); });
  table.Add("UniqueWithCounts", [](TfNode& n) { return Unique(n, true, false); });
  table.Add("UniqueWithCountsV2", [](TfNode& n) { return Unique(n, true, true); });
  table.Add("ScatterNd", ScatterNd);
  for (const char* op : {"TensorScatterAdd", "ScatterNdNonAliasingAdd"}) table.Add(op, TensorScatter("add"));
  table.Add("TensorScatterUpdate", TensorScatter("none"));
  table.Add("TensorScatterSub", TensorScatter("add", true));
  table.Add("TensorScatterMax", TensorScatter("max"));
  table.Add("TensorScatterMin", TensorScatter("min"));
  table.Add("InvertPermutation", InvertPermutation);
  table.Add("DynamicPartition", DynamicPartition);
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) table.Add(op, DynamicStitch);
  table.Add("ListDiff", ListDiff);
  table.Add("LowerBound", [](TfNode& n) { return Bound(n, "less"); });
  table.Add("UpperBound", [](TfNode& n) { return Bound(n, "less_equal"); });
  table.Add("Bucketize", Bucketize);
  for (const char* op : {"Bincount", "DenseBincount"}) table.Add(op, Bincount);
  table.Add("SparseToDense", SparseToDense);
}

}  // namespace tern::tensorflow
