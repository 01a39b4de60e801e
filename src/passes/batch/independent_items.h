// Decides whether requests of several clients may run as one batch.
#pragma once
#include "ir/graph.h"

namespace tern {

// The batch is dim 0 of all inputs and outputs except states. Returns an ok status if each item of a batch
// gets the result that it gets alone, whatever the other items are. Fails with kInvalidArgument if a node may
// mix items, or if it is not known whether it does. The message names the node and the reason.
Status CheckIndependentItems(const Graph& graph);

}  // namespace tern
