// Splits large batches. The values between the steps of a network exceed the cache when the batch is large. A
// sequence of steps that process each item independently then runs slice by slice, so that a step reads from
// the cache what the step before it wrote. Splitting also reduces the memory of the values.
#pragma once
#include <memory>

#include "runtime/plan/lower.h"

namespace tern {

// Owns the Split and Concat nodes between full values and slices. Must outlive the plan's steps.
struct BatchSlices {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<NodeProgram>> programs;
};

// Replaces sequences of nodes by one copy per slice of the batch where that saves memory traffic. Slices of
// inputs are views (Split); slices of outputs are written into the full value (Concat). cache: the number of
// bytes that one step can write so that the next step still finds them in the cache.
void SplitBatch(Lowered& lowered, BatchSlices& slices, size_t cache);

}  // namespace tern
