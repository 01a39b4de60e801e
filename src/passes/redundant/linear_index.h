// Index tensors that are linear in the coordinates, as exporters build them from Range, Reshape, Mul and Add.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// v[i, j, …] = strides[0] * i + strides[1] * j + …; along dims of size 1 the stride is 0.
using Strides = std::vector<Dim>;
std::optional<Strides> LinearIndex(const Value* v);
// Returns the strides for each k of v[i, j, …, k], an index tensor of GatherND that is a constant or a
// Concat.
std::optional<std::vector<Strides>> LinearTuples(const Value* v);

}  // namespace tern
