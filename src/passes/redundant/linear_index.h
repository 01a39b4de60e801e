// Recognizes index tensors that are linear in the coordinates, as exporters build them from Range, Reshape,
// Mul and Add.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

using Strides = std::vector<Dim>;

// Returns the strides of the index tensor v, so that v[i, j, …] = strides[0] * i + strides[1] * j + …. The
// stride of a dim of size 1 may be any number. Returns nullopt if it cannot prove that v is linear.
std::optional<Strides> LinearIndex(const Value* v);
// v is an index tensor of GatherND, so each row of its last axis is an index tuple. Returns the strides of
// v[…, k] for each k. Returns nullopt if v is neither a constant nor a Concat, or if it cannot prove that
// v[…, k] is linear.
std::optional<std::vector<Strides>> LinearTuples(const Value* v);

}  // namespace tern
