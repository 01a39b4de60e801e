// The cost of each layer of a graph, and the totals, as `tern inspect` prints them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/cost/cost.h"

namespace tern::tools {

struct Layer {
  const Node* node = nullptr;
  int depth = 0;       // in nested graphs
  int64_t params = 0;  // of weights that no earlier layer reads
  std::optional<Cost> cost;
  std::string kernel;  // "" when unknown, "reference" for the slow evaluator
};

struct CostReport {
  std::vector<Layer> layers;
  Cost total;
  int64_t params = 0, param_bytes = 0;
  int uncounted = 0;  // layers with unknown dims
};

// kernels: the chosen kernel per node.
CostReport MakeCostReport(const Graph& graph, const std::map<const Node*, std::string>& kernels);

}  // namespace tern::tools
