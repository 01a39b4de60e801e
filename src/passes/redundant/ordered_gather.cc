// Replaces Gathers that read all elements in order. Exporters write such Gathers for attention masks.
#include "passes/redundant/linear_index.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// True if every index equals its row-major position in the index tensor.
bool IsRowMajor(const Strides& strides, const Shape& shape) {
  Dim step = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    if (shape.dims[i].Is(1)) continue;
    if (strides[i] != step) return false;
    step = step * shape.dims[i];
  }
  return true;
}

Dim Count(const Shape& shape) {
  Dim count = 1;
  for (const Dim& d : shape.dims) count = count * d;
  return count;
}

// Replaces the root by a view of x, or of the input of x if x is a view itself.
bool ReplaceByView(Rewrite& r, Value* x) {
  const Shape& to = r.root().output(0)->type.shape;
  Value* y = ViewAs(r, x, to);
  if (const Node* view = y ? nullptr : MadeByView(x)) y = ViewAs(r, view->input(0), to);
  if (!y) return r.Skip("no single view converts ", x->type.shape.ToString(), " to ", to.ToString());
  return r.Replace(y);
}

bool OrderedGather(Rewrite& r) {
  Value *x = r.root().input(0), *indices = r.root().input(1);
  const auto axis = AxisOf(r.root().attrs.Int("axis"), x);
  const auto strides = LinearIndex(indices);
  if (!axis || !strides || !IsRowMajor(*strides, indices->type.shape))
    return r.Skip("the indices are not provably 0, 1, 2, ...");
  if (Count(indices->type.shape) != x->type.shape[*axis])
    return r.Skip("the indices may not reach the end of the axis");
  return ReplaceByView(r, x);
}

// True if the index tuples list all positions of the first dims of x in row-major order. For example, if x is
// [2,3,…] and the indices are [2,3,2], the tuple at position (i, j) must be (i, j).
bool TuplesAreRowMajor(const std::vector<Strides>& parts, const Shape& indices, const Shape& x) {
  size_t at = 0;
  const auto skip_ones = [&] {
    while (at + 1 < indices.dims.size() && indices.dims[at].Is(1)) ++at;
  };
  for (size_t k = 0; k < parts.size(); ++k) {
    skip_ones();
    const bool is_one = x.dims[k].Is(1);
    for (size_t i = 0; i < parts[k].size(); ++i)
      if (!indices.dims[i].Is(1) && !parts[k][i].Is(i == at && !is_one ? 1 : 0)) return false;
    if (is_one) continue;
    if (at + 1 >= indices.dims.size() || indices.dims[at] != x.dims[k]) return false;
    ++at;
  }
  skip_ones();
  return at + 1 == indices.dims.size();
}

bool OrderedGatherND(Rewrite& r) {
  Value *x = r.root().input(0), *indices = r.root().input(1);
  if (r.root().attrs.Int("batch_dims") != 0 || !x->type.shape.ranked || !indices->type.shape.ranked)
    return r.Skip("there are batch dims, or ranks are not known");
  const auto parts = LinearTuples(indices);
  if (!parts || static_cast<int>(parts->size()) > x->type.shape.rank() ||
      !TuplesAreRowMajor(*parts, indices->type.shape, x->type.shape))
    return r.Skip("the indices are not provably 0, 1, 2, ...");
  return ReplaceByView(r, x);
}

}  // namespace

TERN_RULE(ReplaceOrderedGather) {
  return Rule{.summary = "a Gather of all elements in order is a Reshape",
              .roots = {"Gather"},
              .apply = OrderedGather,
              .example = R"(graph @g(%x: f32[6]) -> (%y) {
  #list: i64[2,3] = (0, 1, 2, 3, 4, 5)
  %y = Gather(%x, #list)
})"};
}

TERN_RULE(ReplaceOrderedGatherND) {
  return Rule{.summary = "a GatherND of all elements in order is a Reshape",
              .roots = {"GatherND"},
              .apply = OrderedGatherND,
              .example = R"(graph @g(%x: f32[2,2]) -> (%y) {
  #list: i64[2,1,2,2] = (0, 0, 0, 1, 1, 0, 1, 1)
  %y = GatherND(%x, #list)
})"};
}

}  // namespace tern
