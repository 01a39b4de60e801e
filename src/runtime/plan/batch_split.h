// Big batches, a few items at a time. The values between the steps of a convolutional network outgrow the
// caches when the batch is large; a run of steps that treat each item alone is then done for some items after
// the other, so that what one step writes is still there when the next one reads it. It also needs less
// memory.
#pragma once
#include <memory>

#include "runtime/plan/lower.h"

namespace tern {

// The nodes that cut values into pieces and join them again. They outlive the plan's steps.
struct BatchParts {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<NodeProgram>> programs;
};

// Replaces runs of nodes by a copy for each piece of the batch, where that saves memory traffic. The pieces
// are views (Split) of what the run reads, and parts of what it writes (Concat). cache: how many bytes of a
// step's values the next one finds there.
void SplitBatch(Lowered& lowered, BatchParts& pieces, size_t cache);

}  // namespace tern
