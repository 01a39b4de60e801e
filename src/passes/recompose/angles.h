// Cosines and sines that hold each element twice along the last axis, for rotary embeddings.
#pragma once
#include "passes/rewrite/rewrite.h"

namespace tern {

// Where the two copies of an element are in a row of n.
enum class Copies {
  kHalves,  // at i and i + n/2
  kPairs,   // at 2i and 2i + 1
};

// Returns v with each element of the last axis once. Emits the nodes that compute v again, for rows of n/2.
// Null if the rows are not provably made of copies.
Value* WithoutCopies(Rewrite& r, Value* v, Copies copies);

}  // namespace tern
