// The cost of matrix products.
#pragma once
#include <optional>

namespace tern {

class Node;

// For OpDef::macs of matrix products. Each element of the result takes as many MACs as `a` has columns, or
// rows if the op has an attribute transpose_a that is true. `a` is input 0 of the op.
std::optional<double> ProductMacs(const Node& node);

}  // namespace tern
