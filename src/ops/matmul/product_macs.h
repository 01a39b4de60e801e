// The cost of matrix products.
#pragma once
#include <optional>

namespace tern {

class Node;

// For OpDef::macs of an op whose input 0 is the matrix `a`, with an optional attribute transpose_a: one per
// element of the result and column of a.
std::optional<double> ProductMacs(const Node& node);

}  // namespace tern
