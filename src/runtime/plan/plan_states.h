// Decides how a plan updates the states of a model, and checks that its kernels support every length.
#pragma once
#include <functional>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/plan.h"

namespace tern {

using NodeQueries = std::function<KernelQuery(const PlanNode&)>;

// Fails with kUnsupported if a kernel that was chosen for max_length is not legal for other lengths.
Status CheckLengths(const Lowered& lowered, const std::vector<Draft>& drafts, int64_t max_length,
                    const NodeQueries& query_for);

// Decides for each state of the program how its present is written. A step writes it directly into the
// state's memory if possible. It appends in place if the kernel can append and no other step reads past or
// present. Marks slots and drafts accordingly.
std::vector<PlanState> PlanStates(const Program& program, Lowered& lowered, std::vector<Draft>& drafts,
                                  const NodeQueries& query_for);

}  // namespace tern
