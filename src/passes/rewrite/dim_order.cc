#include "passes/rewrite/dim_order.h"

namespace tern {

std::optional<AxisMap> AxisMapOf(const Node& node) {
  return node.op->axis_map ? node.op->axis_map(node) : std::nullopt;
}

bool JoinsOperands(const AxisMap& map) { return map.operands != AxisMap::Operands::kFirst; }

void MoveAxes(const Node& node, const Permutation& perm, const AxisRenaming::MakeInts& ints, Attrs& attrs,
              std::vector<Value*>& inputs) {
  AxisRenaming renaming(perm, ints, attrs, inputs);
  if (node.op->rename_axes) node.op->rename_axes(node, renaming);
}

}  // namespace tern
