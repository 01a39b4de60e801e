// Converts a node of a plan to a StaticNode (ir/static_node.h), which functions of its op such as
// OpDef::batch read.
#pragma once
#include "ir/static_node.h"
#include "runtime/plan/lower.h"

namespace tern {

// All slots of the node must be static. The result refers to `slots` and the node, which must outlive it.
StaticNode StaticFacts(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
