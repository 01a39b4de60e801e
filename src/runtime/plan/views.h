// Finds nodes whose outputs are views: contiguous slices of their input, with other dims (OpDef::slices).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// Byte offset of each output in input 0 if all outputs are contiguous slices of it: reshapes, Transposes that
// move only axes of length 1, and Split, Slice and Gathers of one index along the outermost axis. All slots
// of the node must be static.
std::optional<std::vector<size_t>> ViewOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

// Byte offset of each input in the output if all inputs are contiguous slices of it: Concat along the
// outermost axis. All slots of the node must be static.
std::optional<std::vector<size_t>> ConcatOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
