// Functions for an op that is declared in one module and executed by a higher module.
#pragma once
#include <functional>
#include <string_view>

#include "ir/op_def.h"
#include "ir/stateful_subgraph.h"

namespace tern {

// Returns the states of subgraph i of an op. A state is a value that the op keeps between runs of the
// subgraph. Only EvalContext::StartSubgraph may run such a subgraph, because its plans write to the memory of
// the states.
using SubgraphStates = std::function<std::vector<SubgraphState>(const Attrs&, int i)>;

// Sets the reference function of an op that was declared without one. Must be called once per op, before a
// graph with the op runs. Not thread-safe.
void SetExecution(std::string_view op, std::function<Status(const Attrs&, EvalContext&)> reference,
                  SubgraphStates states = {});

// Returns the states that SetExecution declared, or an empty list for other ops.
std::vector<SubgraphState> StatesOfSubgraph(const OpDef& op, const Attrs& attrs, int i);

}  // namespace tern
