// What a softmax's input is made of: scaled products of queries and keys, capped, masked.
#pragma once
#include <string>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// One step between the product and the softmax.
struct MaskStep {
  Value* addend = nullptr;     // scores + factor * addend, or
  double factor = 1;           //
  Value* condition = nullptr;  // scores where the condition is `open`, elsewhere fill
  bool open = true;
  double fill = 0;
};

struct Scores {
  Node* product = nullptr;  // MatMul(q, keys)
  double scale = 1;
  Value* head_scale = nullptr;  // a factor for each head, or null
  double softcap = 0;
  bool floored = false;         // not below the least number, which matters only where scores are infinite
  std::vector<MaskStep> masks;  // the last one first
  std::string problem;          // why this is no attention; empty: it is
};

// Every value on the way must be read by the next one only.
Scores ReadScores(Value* v);

// The masks as one: null for none, bool where that says it all. Emits nodes. The shapes must have been
// checked.
Value* JoinMasks(Rewrite& r, const Scores& scores, DType dtype);

}  // namespace tern
