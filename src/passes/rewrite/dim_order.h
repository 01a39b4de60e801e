// What ops say about the order of their operands' dims (OpDef::axis_map), for rules that change it.
#pragma once
#include <vector>

#include "ir/axis_map.h"
#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// Nothing for a node whose axes cannot be reordered.
std::optional<AxisMap> AxisMapOf(const Node& node);
// All operands are reordered together, not the first alone: they broadcast or are joined.
bool JoinsOperands(const AxisMap& map);

// A node's attributes and inputs that name dims, for operands that come permuted. `ints`: makes a constant.
void MoveAxes(const Node& node, const Permutation& perm, const AxisRenaming::MakeInts& ints, Attrs& attrs,
              std::vector<Value*>& inputs);

}  // namespace tern
