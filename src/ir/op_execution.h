// Functions for an op that one module declares and a higher module executes.
#pragma once
#include <functional>
#include <string_view>

#include "ir/op_def.h"
#include "ir/stateful_subgraph.h"

namespace tern {

// Returns the states of an op's subgraph i: values that the op keeps between its runs of the subgraph. Such a
// subgraph runs through EvalContext::StartSubgraph only, because its plans write to the memory of the states.
using SubgraphStates = std::function<std::vector<SubgraphState>(const Attrs&, int i)>;

// Sets the reference function of an op that was declared without one. Called once per op, before a graph with
// the op runs. Not thread-safe.
void SetExecution(std::string_view op, std::function<Status(const Attrs&, EvalContext&)> reference,
                  SubgraphStates states = {});

// Returns the states that SetExecution declared; empty for other ops.
std::vector<SubgraphState> StatesOfSubgraph(const OpDef& op, const Attrs& attrs, int i);

}  // namespace tern
