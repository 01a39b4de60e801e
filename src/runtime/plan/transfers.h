// Adds steps that copy values between the memories of devices.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "runtime/plan/layout.h"

namespace tern {

class Target;

// Owns the nodes of the copies. Must outlive the plan's steps.
struct Transfers {
  std::deque<PlanNode> nodes;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<NodeProgram>> programs;
};

// Assigns each value to the memory of the kernel that writes it. Inserts a copy where a step reads a value
// that is in another memory. Inserts at most one copy per value and memory. The plan also copies outputs of
// the graph to host memory. Constants are copied during this call. `drafts` contains one draft per node of
// `lowered`, in the same order.
Status AddTransfers(const Target& target, Lowered& lowered, std::vector<Draft>& drafts, Transfers& transfers);

// Returns the kernel that copies between two memories.
std::unique_ptr<Kernel> MakeTransfer(MemorySpace* to, MemorySpace* from);

}  // namespace tern
