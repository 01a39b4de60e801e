// Finds nodes that process the items of a batch independently (OpDef::batch).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// For a node that processes each item of the outermost dim independently: by input, whether it has the items;
// other inputs are shared by all items. All outputs have the items. nullopt for other nodes.
std::optional<std::vector<bool>> ItemInputs(const PlanNode& node, const std::vector<SlotFacts>& slots);

// The outermost dim of the node's first output; 0 if it has none or the dim is unknown.
int64_t ItemsOf(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
