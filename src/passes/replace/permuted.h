// Helpers for ops that accept any order of dims if their attributes that name axes change too.
#pragma once
#include <functional>
#include <vector>

#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/views.h"

namespace tern {

// Returns the operands whose dims must be permuted if the dims of the result are permuted. Omits operands
// with one element, except of a Concat. Returns nothing if the op depends on the order of dims, or if an
// operand that is not constant has another rank than the result.
std::vector<Value*> PermutedOperands(const Node& node);

// Emits the node with permuted dims. Result i of the new node is Transpose(result i of `node`, perm).
// `read(v)` must return the operand v with permuted dims. It is called for operands that are not constant.
std::vector<Value*> EmitPermuted(Rewrite& rewrite, const Node& node, const Permutation& perm,
                                 const std::function<Value*(Value*)>& read);

}  // namespace tern
