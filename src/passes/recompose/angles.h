// Cosines and sines that stand twice in a row, for rotary embeddings.
#pragma once
#include "passes/rewrite/rewrite.h"

namespace tern {

enum class Twice {
  kHalves,  // element i is element i + n/2
  kPairs,   // element 2i is element 2i + 1
};

// v with each element of the last axis once: what v is made of is made again without the copies. Null when
// they are not seen to be copies.
Value* Once(Rewrite& r, Value* v, Twice twice);

}  // namespace tern
