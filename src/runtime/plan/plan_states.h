// Decides how a plan updates the states of a model, and checks that its kernels support every length.
#pragma once
#include <functional>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/plan.h"

namespace tern {

using NodeQueries = std::function<KernelQuery(const PlanNode&)>;

// Checks a few lengths below max_length. Fails with kUnsupported if a kernel that was chosen for max_length
// is not legal for one of them.
Status CheckLengths(const Lowered& lowered, const std::vector<Draft>& drafts, int64_t max_length,
                    const NodeQueries& query_for);

// Decides for each state of the program how its present is written. If possible, a step writes the present
// directly into the state's memory. The step appends in place if its kernel can append and no other step
// reads past or present. Sets Lowered::state_outputs and Draft::on_state accordingly.
std::vector<PlanState> PlanStates(const Program& program, Lowered& lowered, std::vector<Draft>& drafts,
                                  const NodeQueries& query_for);

}  // namespace tern
