// Runs graphs with the reference evaluators: slow, obvious, the oracle for everything else.
#pragma once
#include <functional>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// One node on given inputs (null: absent). Output types are inferred from the data.
Result<DatumList> EvaluateNode(const Node& node, const std::vector<const Datum*>& inputs);

// A whole model. inputs: one per graph input. Called after each node when given: (node, outputs).
using NodeObserver = std::function<void(const Node&, const DatumList&)>;
Result<DatumList> EvaluateGraph(const Graph& graph, const DatumList& inputs,
                                const NodeObserver& observer = {});

}  // namespace tern
