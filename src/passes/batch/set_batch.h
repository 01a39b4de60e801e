// Another batch size for a model that was exported with a fixed one.
#pragma once
#include "ir/graph.h"

namespace tern {

// Gives the inputs `batch` as dim 0 and infers every type anew. The batch of the model is dim 0 of its first
// input that has dims; inputs with the same dim 0 follow, the others keep theirs. Where nodes hold the old
// size as a number, they follow as far as it is provable:
// - Reshape to a constant shape: the dim that holds the batch, by its place in memory, becomes an open one;
// - Expand to a constant shape that holds the old size;
// - Concat and recurrent layers whose other operands were made for one item: these are repeated.
// A node that cannot follow is kInvalidArgument, with its name: one that fails with the new size, or whose
// result would no longer hold all items. The graph is then of no further use.
Status SetBatch(Graph& graph, int64_t batch);

}  // namespace tern
