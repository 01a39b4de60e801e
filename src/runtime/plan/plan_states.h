// How a plan works on the states of a model, and whether its kernels take every length of them.
#pragma once
#include <functional>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/plan.h"

namespace tern {

using QueryFor = std::function<KernelQuery(const PlanNode&)>;

// Fails with kUnsupported where a kernel that was chosen for the largest length does not take all others too.
Status CheckLengths(const Lowered& lowered, const std::vector<Draft>& drafts, int64_t most,
                    const QueryFor& query_for);

// Where the present of each state of the graph is written: into the state's memory where a step makes it, in
// place where the kernel can append and nobody else reads past or present. Marks slots and drafts
// accordingly.
std::vector<PlanState> PlanStates(const Graph& graph, Lowered& lowered, std::vector<Draft>& drafts,
                                  const QueryFor& query_for);

}  // namespace tern
