// A plan's node as the rules of its op see it (ir/static_node.h).
#pragma once
#include "ir/static_node.h"
#include "runtime/plan/lower.h"

namespace tern {

// All slots of the node are static. Points into `slots` and the node: valid as long as they are.
StaticNode StaticFacts(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
