// Removes the copies from cosines and sines of rotary embeddings, which contain each element twice along the
// last axis.
#pragma once
#include "passes/rewrite/rewrite.h"

namespace tern {

// The positions of the two copies of an element in a row of n elements.
enum class Copies {
  kHalves,  // at i and i + n/2
  kPairs,   // at 2i and 2i + 1
};

// Returns v with each element of the last axis once. For this, it emits the nodes that compute v again, for
// rows of n/2 elements. Null if the rows are not provably made of copies.
Value* WithoutCopies(Rewrite& r, Value* v, Copies copies);

}  // namespace tern
