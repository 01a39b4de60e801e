#include "passes/batch/item_rules.h"

namespace tern {

// The inputs are values and positions. All values must contain items, in the same axis.
ItemAxes SequenceItems(const ItemQuery& q) {
  int axis = kNoItems;
  for (int i = 0; i < q.inputs(); ++i) {
    const bool position = q.node.op->HasRole(i, Port::Role::kSetting);
    if (position && q.Holds(i)) return InvalidArgument("its position differs between items");
    if (!q.Has(i) || position) continue;
    if (!q.Holds(i) || (axis != kNoItems && q.Axis(i) != axis))
      return InvalidArgument("its elements contain the items in different axes, or one contains none");
    axis = q.Axis(i);
  }
  TERN_TRY(q.node.op->name == "SequenceConstruct" ? Status() : q.OnlyIn({0, 1}));
  return AllOutputs(q, axis);
}

// The number of elements does not depend on the items.
ItemAxes SequenceLengthItems(const ItemQuery& q) { return AllOutputs(q, kNoItems); }

ItemAxes SplitToSequenceItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  const int axis = q.AxisAttr(q.Rank(0));
  if (q.Axis(0) == axis) return WorksAlong(axis);
  const bool drops = !q.Has(1) && !q.node.attrs.Bool("keep_dims");
  return AllOutputs(q, q.Axis(0) - (drops && axis < q.Axis(0)));
}

ItemAxes ConcatFromSequenceItems(const ItemQuery& q) {
  const int axis = q.AxisAttr(q.OutRank());
  const bool stacks = q.node.attrs.Bool("new_axis");
  if (!stacks && q.Axis(0) == axis) return WorksAlong(axis);
  return AllOutputs(q, q.Axis(0) + (stacks && axis <= q.Axis(0)));
}

}  // namespace tern
