// Recognizes index tensors that are linear in the coordinates, as exporters build them from Range, Reshape,
// Mul and Add.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// The strides of an index tensor v: v[i, j, …] = strides[0] * i + strides[1] * j + …. The stride of a dim of
// size 1 is 0. LinearIndex returns nullopt if v is not provably linear.
using Strides = std::vector<Dim>;
std::optional<Strides> LinearIndex(const Value* v);
// v is an index tensor of GatherND, whose last axis contains index tuples. Component k of all
// tuples is a tensor v[…, k]; returns the strides of this tensor for each k. Returns nullopt if v is neither
// a constant nor a Concat, or if it is not provably linear.
std::optional<std::vector<Strides>> LinearTuples(const Value* v);

}  // namespace tern
