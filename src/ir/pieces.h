// Values that are contiguous pieces of another one, so that nothing has to be copied.
#pragma once
#include <optional>

#include "ir/static_node.h"

namespace tern {

// Every dim before the axis is 1: what is cut along the axis is contiguous.
bool Outermost(const Dims& dims, int64_t axis);
// Nothing but ones before the axis that is cut, nothing cut after it.
bool Contiguous(const Dims& whole, const Dims& piece);
// Where pieces that lie side by side along the node's attribute `axis` begin in the whole, in elements.
std::optional<std::vector<int64_t>> PiecesAlongAxis(const StaticNode& node, const Dims& whole,
                                                    const std::vector<StaticValue>& pieces);

}  // namespace tern
