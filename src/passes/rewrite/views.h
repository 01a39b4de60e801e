// Helpers for Transposes and for views, which have the elements of their input with other dims.
#pragma once
#include <optional>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// The target for a Reshape from one shape to the other: the size of a known dim, 0 for a dim that is copied
// from the input, -1 for at most one other dim. nullopt if several dims would need -1. Both shapes must have
// the same number of elements.
std::optional<std::vector<int64_t>> ReshapeNumbers(const Shape& from, const Shape& to);

// Returns x with the dims of `to`: x itself, or a new Reshape, Squeeze or Unsqueeze with constant arguments.
// Null if constant arguments cannot describe the new dims. Both shapes must have the same number of elements.
Value* ViewAs(Rewrite& rewrite, Value* x, const Shape& to);

// The target for an Expand: 1 for a dim that does not change, else its new size. nullopt if a new size is
// unknown.
std::optional<std::vector<int64_t>> ExpandNumbers(const Shape& from, const Shape& to);

// True for a Reshape, Squeeze, Unsqueeze or Flatten of a tensor (trait kView).
bool IsView(const Node& node);
// The producer of v if it is a view, else null.
Node* MadeByView(const Value* v);

// True if the shapes are equal up to leading dims of 1.
bool SameButForOnes(const Shape& a, const Shape& b);

// The permutation of a Transpose, with axes counted from the front; nullopt when the rank is unknown.
std::optional<Permutation> PermutationOf(const Node& transpose);
bool IsIdentity(const Permutation& p);
// The permutation that applies p, then q.
Permutation Compose(const Permutation& p, const Permutation& q);
Permutation Inverse(const Permutation& p);
// True if the dims larger than 1 stay in order, so that the transpose moves no data.
bool OnlyOnesMove(const Permutation& p, const Shape& x);

}  // namespace tern
