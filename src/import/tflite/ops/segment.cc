// Converts sums over segments, and embeddings.
#include "import/common/extremes.h"
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// Combines the rows of x that belong to the same segment. `count` is the number of segments, as a vector with
// one element.
Value* Segments(Builder& b, Value* x, Value* ids, Value* count, const char* reduction, Tensor first) {
  Value* dims = Joined(b, {count, b.Op("Shape", {x}, {{"start", int64_t{ids->type.shape.rank()}}})}, 0);
  Value* start = b.Op("Fill", {dims}, {{"value", std::move(first)}});
  return b.Op("ScatterND", {start, Unsqueezed(b, ids, {-1}), x}, {{"reduction", reduction}});
}

// The ids are sorted. The last one determines the number of segments.
Status SegmentSum(LiteNode& n) {
  Builder& b = n.b;
  const DType t = n.In(0)->type.dtype;
  if (!IsNumeric(t)) return n.NotYet("elements of type ", DTypeName(t));
  Value* ids = Longs64(b, n.In(1));
  Value* count = Binary(b, "add", Reduced(b, "max", ids, {0}, true), b.Ints({1}));
  n.Out(0, Segments(b, n.In(0), ids, count, "add", Tensor(t, {1})));
  return {};
}

Status UnsortedSegment(LiteNode& n, const char* reduction) {
  Builder& b = n.b;
  const std::string kind = reduction;
  Value *x = n.In(0), *ids = Longs64(b, n.In(1));
  const DType t = x->type.dtype;
  if (!IsNumeric(t)) return n.NotYet("elements of type ", DTypeName(t));
  const Tensor first = kind == "max"   ? import::SmallestOf(t)
                       : kind == "min" ? import::LargestOf(t)
                                       : Tensor::Of(t, {1}, {kind == "mul" ? 1.0 : 0.0});
  Value* count = Reshaped(b, Longs64(b, n.In(2)), {1});
  n.Out(0, Segments(b, x, ids, count, reduction, first));
  return {};
}

Status EmbeddingLookup(LiteNode& n) {
  Value* ids = Longs64(n.b, n.In(0));
  const TensorInfo& table = n.InfoIn(1);
  Value* rows = n.b.Op("Gather", {n.In(1), ids}, {{"axis", int64_t{0}}});
  if (!table.quantized || n.InfoOut(0).quantized) {
    n.Out(0, rows);
    return {};
  }
  Value* real = table.quant.one_scale() ? n.importer().Dequantize(rows, table, 0, n.b) : nullptr;
  n.Out(0, real ? real : n.b.Op("Gather", {n.Real(1), ids}, {{"axis", int64_t{0}}}));
  return {};
}

// Emits weighted sums of rows of a table. `indices` has a row per id, which contains the index of the sum and
// then the position in the sum.
Status EmbeddingLookupSparse(LiteNode& n) {
  Builder& b = n.b;
  Value *ids = Longs64(b, n.In(0)), *indices = Longs64(b, n.In(1)), *dims = Longs64(b, n.In(2)),
        *weights = n.Real(3), *params = n.Real(4);
  const int rank = params->type.shape.rank();
  if (rank < 2 || indices->type.shape.rank() != 2) return n.Bad("the table or the indices have too few dims");
  Value* lead = Sliced(b, dims, 0, 0, -1);
  Value* places = Sliced(b, indices, 1, 0, -1);
  std::vector<int64_t> axes;
  for (int i = 1; i < rank; ++i) axes.push_back(i);
  Value* rows =
      Binary(b, "mul", b.Op("Gather", {params, ids}, {{"axis", int64_t{0}}}), Unsqueezed(b, weights, axes));
  const auto sums = [&](Value* updates, Value* shape) {
    Value* zeros = b.Op("Fill", {shape}, {{"value", Tensor(DType::kF32, {1})}});
    return b.Op("ScatterND", {zeros, places, updates}, {{"reduction", "add"}});
  };
  Value* total = sums(rows, Joined(b, {lead, b.Op("Shape", {params}, {{"start", int64_t{1}}})}, 0));
  const int combiner = n.Options<fb::EmbeddingLookupSparseOptions>().combiner();
  if (combiner < 0 || combiner > 2) return n.Bad("the combiner #", combiner);
  if (combiner > 0) {
    Value* norm = sums(combiner == 1 ? weights : Binary(b, "mul", weights, weights), lead);
    if (combiner == 2) norm = Unary(b, "sqrt", norm);
    norm =
        b.Op("Where", {Binary(b, "equal", norm, b.Scalar(DType::kF32, 0)), b.Scalar(DType::kF32, 1), norm});
    for (int i = 1; i < rank; ++i) norm = Unsqueezed(b, norm, {-1});
    total = Binary(b, "div", total, norm);
  }
  n.Out(0, total);
  return {};
}

// Returns, for each key, its row of the table and whether the key was found. The row is zeros if it was not
// found.
Status HashtableLookup(LiteNode& n) {
  Builder& b = n.b;
  Value *wanted = n.In(0), *keys = n.In(1), *values = n.In(2);
  if (values->type.dtype == DType::kString) return n.NotYet("a table of strings");
  Value* same = Binary(b, "equal", Unsqueezed(b, wanted, {1}), Unsqueezed(b, keys, {0}));
  Value* row = b.Op("ArgReduce", {same}, {{"kind", "max"}, {"axis", int64_t{1}}, {"keep_dims", false}});
  Value* found = Reduced(b, "max", same, {1}, false);
  Value* rows = b.Op("Gather", {values, row}, {{"axis", int64_t{0}}});
  Value* hit = found;
  for (int i = 1; i < values->type.shape.rank(); ++i) hit = Unsqueezed(b, hit, {-1});
  n.Out(0, b.Op("Where", {hit, rows, b.Const(Tensor(values->type.dtype, {}))}));
  n.Out(1, CastTo(b, found, DType::kU8));
  return {};
}

std::function<Status(LiteNode&)> UnsortedOf(const char* reduction) {
  return [reduction](LiteNode& n) { return UnsortedSegment(n, reduction); };
}

}  // namespace

TERN_CONVERTERS(segment) {
  table.Add("SEGMENT_SUM", 2, SegmentSum);
  table.Add("UNSORTED_SEGMENT_SUM", 3, UnsortedOf("add"));
  table.Add("UNSORTED_SEGMENT_PROD", 3, UnsortedOf("mul"));
  table.Add("UNSORTED_SEGMENT_MAX", 3, UnsortedOf("max"));
  table.Add("UNSORTED_SEGMENT_MIN", 3, UnsortedOf("min"));
  table.Add("EMBEDDING_LOOKUP", 2, EmbeddingLookup);
  table.Add("EMBEDDING_LOOKUP_SPARSE", 5, EmbeddingLookupSparse);
  table.Add("HASHTABLE_LOOKUP", 3, HashtableLookup);
}

}  // namespace tern::tflite
