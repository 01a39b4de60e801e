// Replaces a new node by a constant where its result is known at import.
#pragma once
#include "ir/graph.h"

namespace tern::tensorflow {

// Returns a constant if the node of `value` has one output and its result is known: its inputs are small
// constants, or inference found all elements. Removes the node then. Otherwise returns `value`.
Value* Fold(Value* value);

}  // namespace tern::tensorflow
