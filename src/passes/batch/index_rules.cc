#include "passes/batch/item_rules.h"

namespace tern {

ItemAxes GatherItems(const ItemQuery& q) {
  const int axis = q.AxisAttr(q.Rank(0));
  if (q.Holds(0) && q.Holds(1)) return InvalidArgument("an index may refer to any item");
  if (q.Holds(1)) return AllOutputs(q, axis + q.Axis(1));
  if (q.Axis(0) == axis) return WorksAlong(axis);
  return AllOutputs(q, q.Axis(0) < axis ? q.Axis(0) : q.Axis(0) - 1 + q.Rank(1));
}

// For GatherElements and ScatterElements. Their operands have the same rank, and their indices are
// positions along `axis`.
ItemAxes SameAxisItems(const ItemQuery& q) {
  for (int i = 0; i < q.inputs(); ++i)
    if (q.Axis(i) != q.Axis(0))
      return InvalidArgument("inputs 0 and ", i,
                             " contain the items in different axes, or one contains none: ",
                             q.node.input(0)->type.ToString(), ", ", q.node.input(i)->type.ToString());
  if (q.Axis(0) == q.AxisAttr(q.Rank(0))) return WorksAlong(q.Axis(0));
  return AllOutputs(q, q.Axis(0));
}

namespace {

// Returns the length of an index tuple, which is the last dim of the indices. Returns nullopt if
// the dim is not known.
std::optional<int> TupleLength(const ItemQuery& q) {
  const Dim& length = q.In(1)[q.Rank(1) - 1];
  if (!length.known()) return std::nullopt;
  return static_cast<int>(length.value());
}

}  // namespace

ItemAxes GatherNdItems(const ItemQuery& q) {
  const auto shared = static_cast<int>(q.node.attrs.Int("batch_dims"));
  const auto tuple = TupleLength(q);
  if (!tuple || q.Axis(1) == q.Rank(1) - 1) return InvalidArgument("an index may refer to any item");
  const bool in_shared = (q.Holds(0) && q.Axis(0) < shared) || (q.Holds(1) && q.Axis(1) < shared);
  if (in_shared && q.Axis(0) == q.Axis(1)) return AllOutputs(q, q.Axis(0));
  if (in_shared || (q.Holds(0) && q.Holds(1))) return InvalidArgument("an index may refer to any item");
  if (q.Holds(1)) return AllOutputs(q, q.Axis(1));
  if (q.Axis(0) < shared + *tuple) return InvalidArgument("an index may refer to any item");
  return AllOutputs(q, q.Axis(0) - shared - *tuple + q.Rank(1) - 1);
}

ItemAxes ScatterNdItems(const ItemQuery& q) {
  const auto tuple = TupleLength(q);
  if (!tuple || !q.Holds(0) || q.Holds(1) || q.Axis(0) < *tuple ||
      q.Axis(2) != q.Axis(0) - *tuple + q.Rank(1) - 1)
    return InvalidArgument("an index may refer to any item");
  return AllOutputs(q, q.Axis(0));
}

ItemAxes OneHotItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  return AllOutputs(q, q.Axis(0) + (q.Axis(0) >= q.AxisAttr(q.OutRank())));
}

}  // namespace tern
