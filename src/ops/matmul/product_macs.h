// The cost of matrix products.
#pragma once
#include <optional>

namespace tern {

class Node;

// For OpDef::macs of matrix products: one MAC for each pair of an element of the result and a column of `a`.
// Input 0 of the op is `a`. The op may have the attribute transpose_a.
std::optional<double> ProductMacs(const Node& node);

}  // namespace tern
