// Runs graphs with the reference functions of the ops. These functions are simple and slow. They are the
// oracle for all tests.
#pragma once
#include <functional>

#include "base/stop.h"
#include "core/datum.h"
#include "ir/eval_context.h"
#include "ir/graph.h"

namespace tern {

// Runs one node on the given inputs. A null pointer stands for an absent input. Output types are inferred
// from the data. Fails if the node runs a subgraph.
Result<DatumList> EvaluateNode(const Node& node, const std::vector<const Datum*>& inputs);

// Called with the outputs of each node after the node has run, also for nodes of nested graphs.
using NodeObserver = std::function<void(const Node&, const DatumList&)>;
struct EvaluateLimits {
  Stop stop;
  size_t collect_limit = DefaultCollectLimit();
};
Result<DatumList> EvaluateGraph(const Graph& graph, const DatumList& inputs,
                                const NodeObserver& observer = {}, const EvaluateLimits& limits = {});

}  // namespace tern
