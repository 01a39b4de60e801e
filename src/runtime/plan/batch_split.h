// Splits large batches into slices. If a batch is large, the values between the steps exceed the cache. Then
// a sequence of steps that process each item independently runs for the first slice, then for the second
// slice, and so on. So each step finds the result of the previous step in the cache. Splitting also reduces
// the memory of these values.
#pragma once
#include <memory>

#include "runtime/plan/lower.h"

namespace tern {

// Owns the Split and Concat nodes between full values and slices. Must outlive the plan's steps.
struct BatchSlices {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<NodeProgram>> programs;
};

// Replaces a sequence of nodes by one copy per slice of the batch if this saves memory traffic. A Split makes
// the slices of an input, which are views. A Concat joins the slices of an output, which are written directly
// into the full value. `cache` is the cache size in bytes.
void SplitBatch(Lowered& lowered, BatchSlices& slices, size_t cache);

}  // namespace tern
