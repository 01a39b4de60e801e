// Changes the batch size of a model that was exported with a fixed one.
#pragma once
#include "ir/graph.h"

namespace tern {

// Sets dim 0 of the inputs to `batch` and infers every type again. The batch of the model is dim 0 of its
// first input that has dims; inputs with the same dim 0 change too, the others do not. Nodes that hold the
// old size as a constant are adapted where that is provably right:
// - Reshape to a constant shape: the dim that contains the batch becomes -1;
// - Expand to a constant shape that holds the old size;
// - Concat and recurrent layers with other operands for one item: these are repeated.
// Every node must process each item independently along the axis that holds the batch (passes/batch/items.h).
// Fails with kInvalidArgument, the name of a node and the reason if one does not, if it fails with the new
// size, or if its result would lose items. The graph must not be used after a failure.
Status SetBatch(Graph& graph, int64_t batch);

}  // namespace tern
