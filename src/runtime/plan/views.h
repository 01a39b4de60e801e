// Finds nodes whose outputs are views: contiguous slices of their input, with other dims (OpDef::slices).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// Returns the byte offset of each output in input 0 if all outputs are contiguous slices of input 0, else
// nullopt. Such nodes are reshapes, Transposes that move only axes of length 1, and Split, Slice and Gather
// of one index along the outermost axis. All slots of the node must be static.
std::optional<std::vector<size_t>> ViewOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

// Returns the byte offset of each input in the output if all inputs are contiguous slices of the output, else
// nullopt. Such a node is a Concat along the outermost axis. All slots of the node must be static.
std::optional<std::vector<size_t>> ConcatOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
