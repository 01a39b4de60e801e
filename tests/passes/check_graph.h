// Checks all guarantees of the optimizer on one graph.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/level.h"

namespace tern {

struct Fault {
  std::string what;  // empty: none
  Level level = Level::kNone;
  std::vector<std::string> fired;  // rules and passes that changed the graph, also without a fault
  explicit operator bool() const { return !what.empty(); }
};

struct CheckOptions {
  std::map<std::string, int64_t> symbols;  // sizes; others are 3
  std::vector<std::string> disable;        // disabled rules
  unsigned seed = 1;                       // of the data
};

// Optimises at every level and checks: the graph is valid; outputs have the same names, types and, on the
// reference evaluator with several sizes, values (at level basic also for infinite and NaN inputs); two
// optimizations give the same text; optimizing the result changes nothing; the runtime's kernels agree with
// the evaluator. `runs` counts the compared data sets.
Fault CheckGraph(const Graph& graph, const CheckOptions& options, int* runs = nullptr);

// The rules without which the fault is gone.
std::vector<std::string> Culprits(const Graph& graph, const CheckOptions& options, const Fault& fault);

// A smaller graph with a fault at the same level.
std::unique_ptr<Graph> ShrinkGraph(const Graph& graph, const CheckOptions& options, const Fault& fault);

}  // namespace tern
