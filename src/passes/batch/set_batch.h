// Changes the batch size of a model.
#pragma once
#include "ir/graph.h"

namespace tern {

// Sets dim 0 of the inputs to `batch` and infers every type again. The batch of the model is dim 0 of its
// first input that has dims. Other inputs change only if they have the same dim 0. If the old size is a
// number, nodes that contain it as a constant are adapted where that is provably right:
// - In the target of a Reshape, the dim that contains the batch becomes -1.
// - In the target of an Expand, the old size becomes 1, which keeps the size of the input.
// - Operands of Concat and of recurrent layers that contain one item are repeated for all items.
// Every node must then process each item independently along the axis that contains the batch
// (passes/batch/items.h). Fails with kInvalidArgument if a node mixes items, is invalid with the new size, or
// would lose items. The message names the node and the reason. Also fails if `batch` is below 1, if no input
// has dims, or if the old size is an expression other than a symbol. The graph must not be used after a
// failure.
Status SetBatch(Graph& graph, int64_t batch);

}  // namespace tern
