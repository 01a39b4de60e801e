// Keeps the values of a graph while EvaluateGraph runs it, so that an observer can compute a node again.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

class NodeValues {
 public:
  NodeValues(const Graph& graph, const DatumList& inputs);

  void Add(const Node& node, const DatumList& outputs);  // called after each node
  // Returns the value, or null for the inputs of a subgraph, which observers do not see.
  std::optional<Datum> Find(const Value& v) const;
  // Returns the node's inputs. Absent inputs are empty. Returns null if an input is not known.
  std::optional<DatumList> InputsOf(const Node& node) const;

  // If the node has an activation, returns the sums to which it applies the activation. Otherwise returns
  // null.
  std::optional<Tensor> SumsOf(const Node& node) const;
  // Overwrites the node's output by the activation of these sums.
  static void Activate(const Node& node, const Tensor& sums, const Tensor& output);

 private:
  void Pair(const Graph& graph, const Graph& twin);

  std::map<const Value*, Datum> values_;
  std::unique_ptr<Graph> twin_;  // the graph without activations
  std::map<const Node*, const Node*> twins_;
};

// Runs the node on these inputs.
Result<DatumList> EvaluateOn(const Node& node, const DatumList& inputs);

}  // namespace tern
