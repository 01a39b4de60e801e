// Copies between memories: steps that bring values to where kernels read them.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "runtime/plan/layout.h"

namespace tern {

class Target;

// The nodes of copies. They outlive the plan's steps.
struct Transfers {
  std::deque<PlanNode> nodes;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<NodeProgram>> programs;
};

// Decides in which memory each value lives: where the kernel that makes it works. Inserts a copy where a step
// reads a value that lives elsewhere, one for each value and memory, and for outputs of the graph, which
// callers find in the host's memory. Constants are copied at once. drafts: one for each node of `lowered`, in
// order.
Status AddTransfers(const Target& target, Lowered& lowered, std::vector<Draft>& drafts, Transfers& transfers);

// The kernel of such a copy.
std::unique_ptr<Kernel> MakeTransfer(MemorySpace* to, MemorySpace* from);

}  // namespace tern
