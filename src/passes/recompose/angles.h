// Exporters write the cosines and sines of rotary embeddings with each element twice along the last axis.
// The function here removes the copies.
#pragma once
#include "passes/rewrite/rewrite.h"

namespace tern {

// The positions of the two copies of an element in a row of n elements.
enum class Copies {
  kHalves,  // at i and i + n/2
  kPairs,   // at 2i and 2i + 1
};

// Returns v with each element of the last axis once. Emits copies of the nodes that compute v. The copies
// compute rows of n/2 elements. Expands are left out, so another dim of the result may be 1 where v has a
// larger size. Returns null if it cannot prove that the rows contain each element twice.
Value* WithoutCopies(Rewrite& r, Value* v, Copies copies);

}  // namespace tern
