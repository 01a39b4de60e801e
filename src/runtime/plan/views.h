// Finds nodes whose outputs are views. A view is a contiguous slice of the node's input and may have other
// dims (OpDef::slices).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// Returns the byte offset of each output in input 0 if all outputs are contiguous slices of input 0, else
// nullopt. Such nodes are reshapes and Transposes that move only axes of length 1. Split, Slice, and Gather
// with one index are such nodes if they work on the outermost axis. All slots of the node must be static.
std::optional<std::vector<size_t>> ViewOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

// Returns the byte offset of each input in the output if all inputs are contiguous slices of the output, else
// nullopt. Such a node is a Concat along the outermost axis. All slots of the node must be static.
std::optional<std::vector<size_t>> ConcatOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
