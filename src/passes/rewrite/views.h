// Helpers for Transposes and for views, which have the elements of their input with other dims.
#pragma once
#include <optional>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// Returns the target for a Reshape from one shape to the other. It contains the size of each known dim, 0 for
// a dim that is copied from the input, and -1 for at most one other dim. Returns nullopt if several dims
// would need -1, if a dim is 0, or if a rank is unknown. Both shapes must have the same number of elements.
std::optional<std::vector<int64_t>> ReshapeNumbers(const Shape& from, const Shape& to);

// Returns x with the dims of `to`. The result is x itself, or a new Reshape, Squeeze or Unsqueeze with
// constant arguments. Returns null if constant arguments cannot describe the new dims. Both shapes must have
// the same number of elements.
Value* ViewAs(Rewrite& rewrite, Value* x, const Shape& to);

// Returns the target for an Expand. It contains 1 for each dim that does not change, and the new size of each
// other dim. Returns nullopt if a new size or a rank is unknown.
std::optional<std::vector<int64_t>> ExpandNumbers(const Shape& from, const Shape& to);

// True for a Reshape, Squeeze, Unsqueeze or Flatten of a tensor (trait kView).
bool IsView(const Node& node);
// Returns the producer of v if it is a view. Otherwise returns null.
Node* MadeByView(const Value* v);

// True if the shapes are equal up to leading dims of 1.
bool SameButForOnes(const Shape& a, const Shape& b);

// Returns the permutation of a Transpose without negative axes, or nullopt if the rank is unknown.
std::optional<Permutation> PermutationOf(const Node& transpose);
bool IsIdentity(const Permutation& p);
// Returns the permutation of a Transpose by p followed by a Transpose by q.
Permutation Compose(const Permutation& p, const Permutation& q);
Permutation Inverse(const Permutation& p);
// True if the dims larger than 1 stay in order, so that the transpose moves no data.
bool OnlyOnesMove(const Permutation& p, const Shape& x);

}  // namespace tern
