// Computes the cost of each layer of a graph and the totals, for `tern inspect`.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/cost/cost.h"

namespace tern::tools {

struct Layer {
  const Node* node = nullptr;
  int depth = 0;       // number of enclosing graphs
  int64_t params = 0;  // elements of the weights that this layer reads and no earlier layer reads
  std::optional<Cost> cost;
  std::string kernel;  // "" if unknown; "reference" if the reference evaluator runs the node
};

struct CostReport {
  std::vector<Layer> layers;
  Cost total;
  int64_t params = 0, param_bytes = 0;
  int uncounted = 0;  // layers with unknown dims
};

// `kernels` has the name of each node's kernel.
CostReport MakeCostReport(const Graph& graph, const std::map<const Node*, std::string>& kernels);

}  // namespace tern::tools
