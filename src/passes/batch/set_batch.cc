#include "passes/batch/set_batch.h"

#include <algorithm>

#include "ir/bind_symbols.h"
#include "passes/batch/follow.h"
#include "passes/batch/symbols.h"

namespace tern {
namespace {

bool HasDims(const Value* v) { return v->type.tensor() && v->type.shape.rank() > 0; }

void Substitute(Graph& graph, const SymbolValues& symbols) {
  for (const auto& v : graph.values())
    if (!v->is_constant()) v->type = WithSymbols(v->type, symbols);
  for (const auto& node : graph.nodes())
    for (const auto& body : node->subgraphs()) Substitute(*body, symbols);
}

// Fails if an output had the batch as dim 0 and now has it in another dim.
Status CheckOutputs(const Graph& graph, const std::vector<Type>& before, const BatchFollower& follower,
                    int64_t old_size) {
  for (size_t i = 0; i < before.size(); ++i) {
    const Value& v = *graph.outputs()[i];
    const Shape& old = before[i].shape;
    if (old.rank() < 1 || !old[0].Is(old_size) || !follower.Holds(v.type) || follower.Holds(v.type.shape[0]))
      continue;
    return InvalidArgument("output '", v.name, "' was ", before[i].ToString(), " and would be ",
                           v.type.ToString());
  }
  return {};
}

// Makes the batch symbolic and adapts nodes that contain the old size as a constant. The error names a node
// that cannot be adapted.
Status FreeBatch(Graph& graph, const std::string& symbol, int64_t old_size, int64_t new_size) {
  std::vector<Type> outputs;
  for (const Value* v : graph.outputs()) outputs.push_back(v->type);
  BatchFollower follower(symbol, old_size, new_size);
  for (Value* v : graph.inputs())
    if (HasDims(v) && v->type.shape[0].Is(old_size)) v->type.shape.dims[0] = follower.batch();
  ForgetDims(graph);
  TERN_TRY(follower.Walk(graph));
  return CheckOutputs(graph, outputs, follower, old_size);
}

// The model is valid with its own batch size, so the error kInvalidModel is reported as kInvalidArgument.
Status AsArgumentError(Status status, int64_t batch, const Dim& old) {
  if (status.ok()) return status;
  const Code code = status.code() == Code::kInvalidModel ? Code::kInvalidArgument : status.code();
  return {code, StrCat("the model cannot have a batch of ", batch, " in place of ", old.ToString(), ": ",
                       status.message())};
}

Status Change(Graph& graph, int64_t batch, const Dim& old) {
  if (old.unknown()) {
    for (Value* v : graph.inputs())
      if (HasDims(v) && v->type.shape[0].unknown()) v->type.shape.dims[0] = batch;
    return InferGraph(graph);
  }
  std::vector<std::string> names;
  old.CollectSymbols(names);
  if (old.known()) {
    names = {FreshSymbol(graph, "batch")};
    TERN_TRY(FreeBatch(graph, names[0], old.value(), batch));
  } else if (names.size() != 1 || old != Dim::Symbol(names[0])) {
    return InvalidArgument("the batch is the expression ", old.ToString(),
                           "; set the sizes of its symbols instead");
  }
  Substitute(graph, {{names[0], batch}});
  return InferGraph(graph);
}

}  // namespace

Status SetBatch(Graph& graph, int64_t batch) {
  if (batch < 1) return InvalidArgument("a batch of ", batch, ": it must be at least 1");
  const auto first = std::find_if(graph.inputs().begin(), graph.inputs().end(), HasDims);
  if (first == graph.inputs().end())
    return InvalidArgument("a batch of ", batch, ": no input of the model has a batch dim");
  const Dim old = (*first)->type.shape[0];
  if (old.Is(batch)) return {};
  return AsArgumentError(Change(graph, batch, old), batch, old);
}

}  // namespace tern
