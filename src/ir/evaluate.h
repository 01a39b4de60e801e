// Runs graphs with the reference evaluators: slow, obvious, the oracle for everything else.
#pragma once
#include <functional>

#include "base/stop.h"
#include "core/datum.h"
#include "ir/eval_context.h"
#include "ir/graph.h"

namespace tern {

// One node on given inputs (null: absent). Output types are inferred from the data.
Result<DatumList> EvaluateNode(const Node& node, const std::vector<const Datum*>& inputs);

// A whole model. inputs: one per graph input. Called after each node when given: (node, outputs).
using NodeObserver = std::function<void(const Node&, const DatumList&)>;
struct EvaluateLimits {
  Stop stop;
  size_t collect_limit = DefaultCollectLimit();
};
Result<DatumList> EvaluateGraph(const Graph& graph, const DatumList& inputs,
                                const NodeObserver& observer = {}, const EvaluateLimits& limits = {});

}  // namespace tern
