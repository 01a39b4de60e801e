// Finds values that are contiguous slices of another value. Such a slice needs no copy.
#pragma once
#include <optional>

#include "ir/static_node.h"

namespace tern {

// Returns true if every dim before the axis is 1, so that slices along the axis are contiguous.
bool Outermost(const Dims& dims, int64_t axis);
// Returns true if a slice with dims `slice` of a value with dims `full` is contiguous. A slice is contiguous
// if its dims before some axis are 1 and its dims after this axis equal those of `full`. For example,
// [1,2,4] is a contiguous slice of [3,5,4].
bool Contiguous(const Dims& full, const Dims& slice);
// `slices` are adjacent slices, along the node's attribute `axis`, of a value with dims `full`. Returns their
// offsets in elements. Returns nullopt if the slices are not contiguous or if one of them is absent.
std::optional<std::vector<int64_t>> SlicesAlongAxis(const StaticNode& node, const Dims& full,
                                                    const std::vector<StaticValue>& slices);

}  // namespace tern
