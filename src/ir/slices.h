// Values that are contiguous slices of another value, so that they need no copy.
#pragma once
#include <optional>

#include "ir/static_node.h"

namespace tern {

// True if every dim before the axis is 1: slices along the axis are contiguous.
bool Outermost(const Dims& dims, int64_t axis);
// True if the slice has only dims of 1 before the sliced axis and full dims after it.
bool Contiguous(const Dims& full, const Dims& slice);
// Offsets, in elements, of adjacent slices along the node's attribute `axis`. nullopt if they are not
// contiguous.
std::optional<std::vector<int64_t>> SlicesAlongAxis(const StaticNode& node, const Dims& full,
                                                    const std::vector<StaticValue>& slices);

}  // namespace tern
