// Integer tensors that number positions: a sum of strides times coordinates, as exporters build them from
// Range, Reshape, multiplication and addition.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// v[i, j, …] = strides[0] * i + strides[1] * j + …; along dims of size 1 the stride is 0.
using Strides = std::vector<Dim>;
std::optional<Strides> LinearIndex(const Value* v);
// The same for each part of the last dim: v[i, j, …, k]. Made by Concat, or constant.
std::optional<std::vector<Strides>> LinearTuples(const Value* v);

}  // namespace tern
