// Helpers for rules that permute dims. They read from OpDef::axis_map which axes of the operands and
// results of a node correspond.
#pragma once
#include <vector>

#include "ir/axis_map.h"
#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// Returns the axis map of a node, or nullopt if its axes cannot be permuted.
std::optional<AxisMap> AxisMapOf(const Node& node);
// True if a permutation applies to all operands, because they broadcast or are concatenated. False if it
// applies to the first operand only.
bool JoinsOperands(const AxisMap& map);

// Changes the attributes and inputs that name axes (such as `axis`) to match operands that `perm` permutes.
// `ints` makes the constants for new inputs.
void MoveAxes(const Node& node, const Permutation& perm, const AxisRenaming::MakeInts& ints, Attrs& attrs,
              std::vector<Value*>& inputs);

}  // namespace tern
