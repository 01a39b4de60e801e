// Converts segment operators: reductions of rows with equal segment ids.
#include "import/common/extremes.h"
#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

// Returns a tensor [1] with the value from which a reduction starts. In unsorted operators, it is the result
// of an empty segment.
Tensor Start(TfNode& n, DType dtype, std::string_view kind) {
  if (kind == "mul") return n.Numbers(dtype, {1}, {1});
  if (!IsNumeric(dtype) || (kind != "max" && kind != "min")) return n.Numbers(dtype, {1}, {0});
  return kind == "max" ? import::SmallestOf(dtype) : import::LargestOf(dtype);
}

// Reduces the rows of x [n, …] by their ids [n] into a tensor with `count` (i64[1]) rows.
Result<Value*> Scatter(TfNode& n, Value* x, Value* ids, Value* count, const char* kind) {
  TERN_ASSIGN(const int rank, n.RankOf(x));
  Value* shape = rank > 1 ? n.Concat({count, n.Op("Shape", {x}, {{"start", 1}})}, 0) : count;
  Value* base = n.Op("Fill", {shape}, {{"value", Start(n, x->type.dtype, kind)}});
  return n.Op("ScatterND", {base, n.Unsqueeze(n.Cast(ids, DType::kI64), {1}), x}, {{"reduction", kind}});
}

Value* LastPlusOne(TfNode& n, Value* ids) {
  Value* wide = n.Cast(ids, DType::kI64);
  // Appends -1, so that the result is 0 if there are no ids.
  Value* padded = n.Concat({wide, n.b.Ints({-1})}, 0);
  Value* last = n.Op("Reduce", {padded}, {{"kind", "max"}, {"keep_dims", true}});
  return n.Binary("add", last, n.b.Ints({1}));
}

Value* CountOf(TfNode& n, int i) { return n.Cast(n.Vector(n.In(i)), DType::kI64); }

// Returns the number of rows per segment, as a column that broadcasts against the sums.
Result<Value*> Sizes(TfNode& n, Value* x, Value* ids, Value* count) {
  TERN_ASSIGN(const int rank, n.RankOf(x));
  Value* ones = n.Op("Fill", {n.ShapeOf(ids)}, {{"value", n.Numbers(x->type.dtype, {1}, {1})}});
  TERN_ASSIGN(Value * sizes, Scatter(n, ones, ids, count, "add"));
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank; ++i) axes.push_back(i);
  return axes.empty() ? sizes : n.Unsqueeze(sizes, axes);
}

// The divisor of the sums: none, the number of rows, or its square root.
enum class Scale { kNone, kMean, kRoot };

Result<Value*> Sum(TfNode& n, Value* x, Value* ids, Value* count, Scale scale) {
  TERN_ASSIGN(Value * sum, Scatter(n, x, ids, count, "add"));
  if (scale == Scale::kNone) return sum;
  TERN_ASSIGN(Value * sizes, Sizes(n, x, ids, count));
  Value* divisor = n.Binary("max", sizes, n.Like(sizes, 1));
  if (scale == Scale::kRoot) divisor = n.Unary("sqrt", divisor);
  return n.Binary("div", sum, divisor);
}

// Empty segments between others are 0 in SegmentMax and SegmentMin, and 1 in SegmentProd.
Status Sorted(TfNode& n, const char* kind) {
  Value *x = n.In(0), *ids = n.In(1);
  Value* count = LastPlusOne(n, ids);
  TERN_ASSIGN(Value * y, Scatter(n, x, ids, count, kind));
  const bool extreme = kind == std::string_view("max") || kind == std::string_view("min");
  if (extreme) {
    TERN_ASSIGN(Value * sizes, Sizes(n, x, ids, count));
    y = n.Op("Where", {n.Binary("equal", sizes, n.Like(sizes, 0)), n.Like(y, 0), y});
  }
  n.Out(0, y);
  return {};
}

Status SegmentMean(TfNode& n) {
  Value *x = n.In(0), *ids = n.In(1);
  TERN_ASSIGN(Value * y, Sum(n, x, ids, LastPlusOne(n, ids), Scale::kMean));
  n.Out(0, y);
  return {};
}

// Rows with negative ids are dropped. They are added to an additional row, which is removed at the end.
Status Unsorted(TfNode& n, const char* kind) {
  Value *x = n.In(0), *ids = n.Cast(n.In(1), DType::kI64), *count = CountOf(n, 2);
  TERN_ASSIGN(const int rank, n.RankOf(ids));
  if (rank != 1) {
    Value* rest = n.Op("Shape", {x}, {{"start", rank}});
    x = n.Op("Reshape", {x, n.Concat({n.b.Ints({-1}), rest}, 0)});
    ids = n.Vector(ids);
  }
  ids = n.Op("Where", {n.Binary("less", ids, n.b.Ints({0})), count, ids});
  TERN_ASSIGN(Value * y, Scatter(n, x, ids, n.Binary("add", count, n.b.Ints({1})), kind));
  n.Out(0, n.Op("Slice", {y, n.b.Ints({0}), count, n.b.Ints({0})}));
  return {};
}

// Input 1 contains the indices of the rows to reduce.
Status Sparse(TfNode& n, Scale scale) {
  Value* x = n.Op("Gather", {n.In(0), n.In(1)}, {{"axis", 0}});
  Value* ids = n.In(2);
  Value* count = n.InputCount() > 3 ? CountOf(n, 3) : LastPlusOne(n, ids);
  TERN_ASSIGN(Value * y, Sum(n, x, ids, count, scale));
  n.Out(0, y);
  return {};
}

}  // namespace

TERN_CONVERTERS(segment) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {
      {"Sum", "add"}, {"Prod", "mul"}, {"Max", "max"}, {"Min", "min"}};
  for (const auto& [name, kind] : kKinds) {
    table.Add(StrCat("Segment", name).c_str(), [kind = kind](TfNode& n) { return Sorted(n, kind); });
    table.Add(StrCat("UnsortedSegment", name).c_str(),
              [kind = kind](TfNode& n) { return Unsorted(n, kind); });
  }
  table.Add("SegmentMean", SegmentMean);
  for (const char* tail : {"", "WithNumSegments"}) {
    table.Add(StrCat("SparseSegmentSum", tail).c_str(), [](TfNode& n) { return Sparse(n, Scale::kNone); });
    table.Add(StrCat("SparseSegmentMean", tail).c_str(), [](TfNode& n) { return Sparse(n, Scale::kMean); });
    table.Add(StrCat("SparseSegmentSqrtN", tail).c_str(), [](TfNode& n) { return Sparse(n, Scale::kRoot); });
  }
}

}  // namespace tern::tensorflow
