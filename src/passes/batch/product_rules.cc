#include <algorithm>

#include "ops/matmul/einsum_equation.h"
#include "passes/batch/item_rules.h"

namespace tern {
namespace {

// Returns the axis of the result that contains the items of input `i`. Fails if the product sums along the
// axis with the items. `other` is the index of the other operand. `second` is true if input `i` is the right
// operand.
Result<int> ProductAxis(const ItemQuery& q, int i, int other, bool second) {
  const int rank = q.Rank(i), axis = q.Axis(i), out = q.OutRank();
  const bool transposed = q.node.attrs.Bool(second ? "transpose_b" : "transpose_a");
  if (rank < 2) return InvalidArgument("it sums along axis 0, which contains the items");
  const int free = second == transposed ? rank - 2 : rank - 1;  // the rows of a or the columns of b
  if (axis == free) {
    if (q.Holds(other)) return InvalidArgument("it multiplies each item with all others");
    return second || q.Rank(other) < 2 ? out - 1 : out - 2;
  }
  if (axis >= rank - 2) return InvalidArgument("it sums along axis ", axis, ", which contains the items");
  // The axis is one of the batch axes, which precede the matrix axes. The result has two matrix axes, or one
  // if the other operand is a vector.
  const int matrix = q.Rank(other) < 2 ? 1 : 2, place = out - matrix - (rank - 2 - axis);
  const int there = q.Rank(other) - 2 - (rank - 2 - axis);
  if (q.Holds(other) ? q.Axis(other) != there : there >= 0 && !q.In(other)[there].Is(1))
    return InvalidArgument("its operands ", q.node.input(i)->type.ToString(), " and ",
                           q.node.input(other)->type.ToString(), " contain the items in different axes");
  return place;
}

Result<int> ProductOf(const ItemQuery& q, int a, int b) {
  if (q.Holds(a)) return ProductAxis(q, a, b, false);
  if (q.Holds(b)) return ProductAxis(q, b, a, true);
  return InvalidArgument("only its bias or residual contains items");
}

}  // namespace

ItemAxes MatMulItems(const ItemQuery& q) {
  TERN_ASSIGN(const int axis, ProductOf(q, 0, 1));
  for (const int i : {2, 3})
    if (q.Has(i)) TERN_TRY(CheckBroadcast(q, i, axis));
  return AllOutputs(q, axis);
}

ItemAxes QMatMulItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0, 3}));
  TERN_ASSIGN(const int axis, ProductOf(q, 0, 3));
  return AllOutputs(q, axis);
}

// The label of the batch axis must occur in the result. It must not occur in an operand that is the same for
// all items.
ItemAxes EinsumItems(const ItemQuery& q) {
  TERN_ASSIGN(const EinsumEquation equation, ParseEinsum(q.node.attrs.Text("equation")));
  std::vector<int> ranks;
  for (int i = 0; i < q.inputs(); ++i) ranks.push_back(q.Rank(i));
  TERN_ASSIGN(const EinsumLabels labels, LabelAxes(equation, ranks));
  std::optional<int> name;
  for (int i = 0; i < q.inputs(); ++i)
    if (q.Holds(i)) name = labels.inputs[static_cast<size_t>(i)][static_cast<size_t>(q.Axis(i))];
  for (int i = 0; i < q.inputs(); ++i) {
    const auto& axes = labels.inputs[static_cast<size_t>(i)];
    const auto uses = std::count(axes.begin(), axes.end(), *name);
    if (uses != (q.Holds(i) ? 1 : 0) || (q.Holds(i) && axes[static_cast<size_t>(q.Axis(i))] != *name))
      return InvalidArgument("its operands contain the items in different axes");
  }
  const auto at = std::find(labels.output.begin(), labels.output.end(), *name);
  if (at == labels.output.end()) return InvalidArgument("it sums along the axis that contains the items");
  return AllOutputs(q, static_cast<int>(at - labels.output.begin()));
}

// q, k, v, past and lengths must contain items. A mask may be the same for all items.
ItemAxes AttentionItems(const ItemQuery& q) {
  const bool stacked = q.node.attrs.Bool("stacked");
  for (const int i : {0, 1, 2, 4, 5, 6}) {
    if (!q.Has(i)) continue;
    const int batch = stacked && (i == 4 || i == 5) ? 1 : 0;
    if (!q.Holds(i)) return InvalidArgument("its input ", i, " does not contain items, but other inputs do");
    if (q.Axis(i) != batch) return WorksAlong(q.Axis(i));
  }
  if (q.Holds(3) && (q.Axis(3) != 0 || q.Rank(3) != 4)) return WorksAlong(q.Axis(3));
  std::vector<int> axes(q.outputs(), 0);
  if (stacked && axes.size() > 1) axes[1] = 1;
  return axes;
}

// x is [length, batch, features], y is [length, directions, batch, hidden], and the last states are
// [directions, batch, hidden].
ItemAxes RnnItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0, 4, 5, 6}));
  for (const auto& [i, batch] : {std::pair{0, 1}, {4, 0}, {5, 1}, {6, 1}}) {
    if (!q.Has(i)) continue;
    if (!q.Holds(i)) return InvalidArgument("its input ", i, " does not contain items, but other inputs do");
    if (q.Axis(i) != batch) return WorksAlong(q.Axis(i));
  }
  std::vector<int> axes(q.outputs(), 1);
  axes[0] = 2;
  return axes;
}

}  // namespace tern
