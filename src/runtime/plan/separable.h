// Finds nodes that process the items of a batch independently (OpDef::batch).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// Returns for each input of the node whether its outermost dim is the batch. All items share the other
// inputs. Returns nullopt if the node does not process the items independently, or if the outermost dim of an
// output is not the batch.
std::optional<std::vector<bool>> ItemInputs(const PlanNode& node, const std::vector<SlotFacts>& slots);

// Returns the outermost dim of the node's first output, or 0 if the output has no dims or the dim is unknown.
int64_t ItemsOf(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
