// Handles ops that work with any order of dims, provided that their axis attributes are permuted too.
#pragma once
#include <functional>
#include <vector>

#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/views.h"

namespace tern {

// The operands whose dims must be permuted along with the result's; empty when the op depends on the order of
// dims. Operands with one element are left out.
std::vector<Value*> PermutedOperands(const Node& node);

// Emits the node with permuted dims: result i of the new node is Transpose(result i of `node`, perm). `read`
// returns an operand with permuted dims.
std::vector<Value*> EmitPermuted(Rewrite& rewrite, const Node& node, const Permutation& perm,
                                 const std::function<Value*(Value*)>& read);

}  // namespace tern
