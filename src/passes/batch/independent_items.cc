#include "passes/batch/independent_items.h"

#include <algorithm>

#include "passes/batch/follow.h"
#include "passes/batch/symbols.h"

namespace tern {
namespace {

bool IsPast(const Graph& graph, const Value* input) {
  return std::any_of(graph.states().begin(), graph.states().end(),
                     [&](const GraphState& state) { return state.input == input; });
}
bool IsPresent(const Graph& graph, size_t output) {
  return std::any_of(graph.states().begin(), graph.states().end(),
                     [&](const GraphState& state) { return state.output == static_cast<int>(output); });
}

// Returns the symbol of the batch. It is dim 0 of each input. Dims that are not known are taken for the
// batch.
Result<std::string> BatchSymbol(const Graph& graph) {
  std::string symbol;
  for (const Value* input : graph.inputs()) {
    if (IsPast(graph, input)) continue;
    const Type& type = input->type;
    if (!type.tensor() || type.shape.rank() < 1)
      return InvalidArgument("input '", input->name, "' is ", type.ToString(),
                             ", which has no known batch dim");
    const Dim& d = type.shape[0];
    if (d.unknown()) continue;
    std::vector<std::string> names;
    d.CollectSymbols(names);
    if (names.size() != 1 || d != Dim::Symbol(names[0]) || (!symbol.empty() && symbol != names[0]))
      return InvalidArgument("input '", input->name, "' is ", type.ToString(),
                             ", whose dim 0 is not the batch");
    symbol = names[0];
  }
  return symbol.empty() ? FreshSymbol(graph, "batch") : symbol;
}

// Gives symbols to the unknown dims of the inputs, because the product of an unknown dim and the batch is
// unknown, too.
void NameDims(Graph& graph, const std::string& batch) {
  int count = 0;
  for (Value* input : graph.inputs())
    for (size_t i = 0; i < input->type.shape.dims.size(); ++i) {
      Dim& d = input->type.shape.dims[i];
      if (!d.unknown()) continue;
      const bool items = i == 0 && !IsPast(graph, input);
      d = Dim::Symbol(items ? batch : FreshSymbol(graph, StrCat("dim", ++count)));
    }
}

Status CheckPort(const BatchFollower& follower, const char* kind, const Value& value) {
  if (follower.HoldsFirst(value.type)) return {};
  return InvalidArgument(kind, " '", value.name, "' is ", value.type.ToString(),
                         ", which does not contain one item per index of dim 0");
}

}  // namespace

Status CheckIndependentItems(const Graph& graph) {
  TERN_ASSIGN(const std::string batch, BatchSymbol(graph));
  const std::unique_ptr<Graph> copy = graph.Clone();
  NameDims(*copy, batch);
  ForgetDims(*copy);
  BatchFollower follower(batch);
  for (const Value* input : copy->inputs())
    if (!IsPast(*copy, input)) TERN_TRY(CheckPort(follower, "input", *input));
  TERN_TRY(follower.Walk(*copy));
  for (size_t i = 0; i < copy->outputs().size(); ++i)
    if (!IsPresent(*copy, i)) TERN_TRY(CheckPort(follower, "output", *copy->outputs()[i]));
  return {};
}

}  // namespace tern
