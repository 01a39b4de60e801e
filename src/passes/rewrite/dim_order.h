// How the dims of an op's operands and results correspond (OpDef::axis_map), for rules that permute dims.
#pragma once
#include <vector>

#include "ir/axis_map.h"
#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

// The axis map of a node; nullopt if its axes cannot be permuted.
std::optional<AxisMap> AxisMapOf(const Node& node);
// True if all operands are permuted together, not only the first: they broadcast or are concatenated.
bool JoinsOperands(const AxisMap& map);

// Permutes the attributes and inputs that name axes, for operands that are permuted. `ints` makes a constant.
void MoveAxes(const Node& node, const Permutation& perm, const AxisRenaming::MakeInts& ints, Attrs& attrs,
              std::vector<Value*>& inputs);

}  // namespace tern
