#include "ir/state.h"

#include <algorithm>
#include <set>

namespace tern {
namespace {

bool ProvablyDifferent(const Dim& a, const Dim& b) {
  if (a.unknown() || b.unknown()) return false;
  const Dim difference = b - a;
  return difference.known() && !difference.Is(0);
}

Status CheckState(const Graph& graph, const GraphState& state) {
  const auto& inputs = graph.inputs();
  if (graph.parent) return InvalidModel("graph '", graph.name, "' has states but is nested");
  if (std::find(inputs.begin(), inputs.end(), state.input) == inputs.end())
    return InvalidModel("the past of a state is not an input of graph '", graph.name, "'");
  if (state.output < 0 || state.output >= static_cast<int>(graph.outputs().size()))
    return InvalidModel("state '", state.input->name, "' refers to output number ", state.output,
                        ", but the graph has ", graph.outputs().size(), " outputs");
  const Value* present = graph.outputs()[static_cast<size_t>(state.output)];
  if (state.axis < -1 || !MayBeState(state.input->type, present->type, state.axis))
    return InvalidModel("state '", state.input->name, "' is ", state.input->type.ToString(),
                        ", but its present '", present->name, "' is ", present->type.ToString(),
                        state.axis < 0 ? "" : StrCat(": they may differ only along axis ", state.axis));
  return {};
}

}  // namespace

bool MayBeState(const Type& past, const Type& present, int axis) {
  if (past.kind == Type::Kind::kUnknown || present.kind == Type::Kind::kUnknown) return true;
  if (!past.tensor() || !present.tensor() || past.dtype != present.dtype) return false;
  if (!past.shape.ranked || !present.shape.ranked) return true;
  if (past.shape.rank() != present.shape.rank() || axis >= past.shape.rank()) return false;
  for (int i = 0; i < past.shape.rank(); ++i)
    if (i != axis && ProvablyDifferent(past.shape[i], present.shape[i])) return false;
  return true;
}

Status CheckStates(const Graph& graph) {
  std::set<const Value*> pasts;
  std::set<int> presents;
  for (const GraphState& state : graph.states()) {
    TERN_TRY(CheckState(graph, state));
    if (!pasts.insert(state.input).second)
      return InvalidModel("input '", state.input->name, "' is the past of two states");
    if (!presents.insert(state.output).second)
      return InvalidModel("output number ", state.output, " is the present of two states");
  }
  return {};
}

}  // namespace tern
