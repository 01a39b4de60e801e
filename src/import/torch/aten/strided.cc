// Views with other strides: diagonals, windows, as_strided.
#include <vector>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

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
  // Moves the two axes of the matrix to the front, so that a pair (row, column) selects a slice of x.
  std::vector<int64_t> front = {rank - 2, rank - 1};
  for (int64_t k = 0; k < rank - 2; ++k) front.push_back(k);
  Value* picked =
      n.b.Op("GatherND", {e.Transpose(x, front), e.Concat({e.Unsqueeze(r, {1}), e.Unsqueeze(c, {1})}, 1)});
  n.Out(rank == 2 ? picked : e.Transpose(picked, MovedPerm(rank - 1, 0, rank - 2)));
  return {};
}

// Returns windows of `size` elements along a dim. They start `step` elements after each other, and form a new
// last dim.
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

// Returns a number as a dim. The dim is unknown if the number depends on the values of inputs.
Dim DimOf(const Arg& a) {
  if (a.known()) return Dim(a.integer);
  return a.value && a.value->content && a.value->content->size() == 1 ? a.value->content->front() : Dim();
}

// Returns whether the strides are those of row-major order. The strides of dims of size 1 do not matter.
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

// Supports only tensors that are not views and whose elements are in row-major order.
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

}  // namespace

TERN_CONVERTERS(strided) {
  table.Add("aten::diagonal", Diagonal);
  table.Add("aten::linalg_diagonal", Diagonal);
  table.Add("aten::unfold", Unfold);
  table.Add("aten::as_strided", AsStrided);
}

}  // namespace tern::torch
