// Matches the input of an attention softmax. It is the product of queries and keys, which may be
// scaled, softcapped and masked.
#pragma once
#include <string>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// A mask between the product and the softmax. Either `addend` or `condition` is set.
struct MaskStep {
  Value* addend = nullptr;  // the new scores are scores + factor * addend
  double factor = 1;
  Value* condition = nullptr;  // if condition != open, the new score is `fill`
  bool open = true;
  double fill = 0;
};

struct Scores {
  Node* product = nullptr;  // MatMul(q, keys)
  double scale = 1;
  Value* head_scale = nullptr;  // a factor for each head, or null
  double softcap = 0;
  bool floored = false;         // clamped at a number below -1e30, which changes only infinite scores
  std::vector<MaskStep> masks;  // the mask nearest to the softmax comes first
  std::string problem;          // why the match failed; empty if it succeeded
};

// Matches v, the input of the softmax. Every value from the product to v must have one reader.
Scores ReadScores(Value* v);

// Emits nodes that combine the masks into one mask. Returns null if there is no mask, a bool mask for a
// single condition with a fill of -infinity, else an additive mask. The caller has checked the shapes.
Value* JoinMasks(Rewrite& r, const Scores& scores, DType dtype);

}  // namespace tern
