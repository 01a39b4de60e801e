// Which nodes only look at their input's bytes under other dims, for given shapes (OpDef::slices).
#pragma once
#include <optional>

#include "runtime/plan/lower.h"

namespace tern {

// Byte offsets into input 0 of each output, when all outputs are contiguous slices of it: reshapes,
// Transposes that move axes of length 1 only, and Split, Slice and single Gathers along the outermost axis.
// All slots involved are static.
std::optional<std::vector<size_t>> ViewOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

// Byte offsets in the output of each input, when all inputs are contiguous slices of it: Concat along the
// outermost axis. All slots involved are static.
std::optional<std::vector<size_t>> ConcatOffsets(const PlanNode& node, const std::vector<SlotFacts>& slots);

}  // namespace tern
