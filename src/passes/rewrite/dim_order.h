// For rules that permute dims: tells how the axes of a node's operands and results correspond
// (OpDef::axis_map).
#pragma once
#include <vector>

#include "ir/axis_map.h"
#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// The axis map of a node; nullopt if its axes cannot be permuted.
std::optional<AxisMap> AxisMapOf(const Node& node);
// True if a permutation applies to all operands, because they broadcast or are concatenated. False if it
// applies to the first operand only.
bool JoinsOperands(const AxisMap& map);

// Changes the attributes and inputs that name axes (such as `axis`) to match operands that `perm` permutes.
// `ints` makes the constants for new inputs.
void MoveAxes(const Node& node, const Permutation& perm, const AxisRenaming::MakeInts& ints, Attrs& attrs,
              std::vector<Value*>& inputs);

}  // namespace tern
