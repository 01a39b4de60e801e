// What products of matrices cost.
#pragma once
#include <optional>

namespace tern {

class Node;

// For OpDef::macs of an op with the matrix `a` as input 0 and perhaps the attribute transpose_a: one for each
// element of the result and each column of a.
std::optional<double> ProductMacs(const Node& node);

}  // namespace tern
