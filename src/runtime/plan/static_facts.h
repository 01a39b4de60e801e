// Converts a plan's node to the form that functions of its op such as OpDef::batch read (ir/static_node.h).
#pragma once
#include "ir/static_node.h"
#include "runtime/plan/lower.h"

namespace tern {

// All slots of the node must be static. The result refers to `slots` and the node, which must outlive it.
StaticNode StaticFacts(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
