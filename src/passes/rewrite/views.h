// The same elements under other dims.
#pragma once
#include <optional>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// What Reshape needs to be told to get from one shape to the other: numbers, 0 for a dim that stays in its
// place, -1 for one other dim. Nothing where two dims cannot be said; the elements must be equally many.
std::optional<std::vector<int64_t>> ReshapeNumbers(const Shape& from, const Shape& to);

// x under the dims of `to`: x itself, or one node that needs constants only (Reshape, Squeeze or Unsqueeze).
// Null where no such node is seen. The elements must be equally many.
Value* ViewAs(Rewrite& rewrite, Value* x, const Shape& to);

// What Expand needs to be told: 1 for a dim that stays, numbers for those that grow. Nothing where one that
// grows is not known.
std::optional<std::vector<int64_t>> ExpandNumbers(const Shape& from, const Shape& to);

// The same elements of a tensor under other dims: Reshape, Squeeze, Unsqueeze, Flatten (trait kView).
bool IsView(const Node& node);
// Made by a view op; null otherwise.
Node* MadeByView(const Value* v);

// Equal but for ones in front.
bool SameButForOnes(const Shape& a, const Shape& b);

// A Transpose's permutation, counted from the front; nothing when the rank is not known.
std::optional<Permutation> PermutationOf(const Node& transpose);
bool IsIdentity(const Permutation& p);
// First p, then q.
Permutation Compose(const Permutation& p, const Permutation& q);
Permutation Inverse(const Permutation& p);
// The dims that hold more than one element stay in order: nothing moves in memory.
bool OnlyOnesMove(const Permutation& p, const Shape& x);

}  // namespace tern
