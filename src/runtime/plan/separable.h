// Which nodes treat the items of a batch one by one (OpDef::batch).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// For a node that does with each item of the outermost dim what it would do with that item alone: which
// inputs hold such items; the others are the same for all of them. All its outputs hold items.
std::optional<std::vector<bool>> ItemInputs(const PlanNode& node, const std::vector<SlotFacts>& slots);

// The outermost dim of the node's first output, 0 where that has none or is not known.
int64_t ItemsOf(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
