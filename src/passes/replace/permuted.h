// Ops that compute the same whatever the order of dims, when their axes follow.
#pragma once
#include <functional>
#include <vector>

#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/views.h"

namespace tern {

// The operands whose dims have to be permuted with the result's; empty when the op cannot follow. Operands
// of size 1 are left out: they need no permuting.
std::vector<Value*> PermutedOperands(const Node& node);

// The node's results under permuted dims: result i of the new node is Transpose(result i, perm). `read` gives
// an operand under permuted dims.
std::vector<Value*> EmitPermuted(Rewrite& rewrite, const Node& node, const Permutation& perm,
                                 const std::function<Value*(Value*)>& read);

}  // namespace tern
