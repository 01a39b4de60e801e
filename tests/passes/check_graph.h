// Everything the optimizer promises about one graph.
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
  std::vector<std::string> fired;  // rules and passes, also where there is no fault
  explicit operator bool() const { return !what.empty(); }
};

struct CheckOptions {
  std::map<std::string, int64_t> symbols;  // sizes; others are 3
  std::vector<std::string> disable;        // rules left out
  unsigned seed = 1;                       // of the data
};

// Optimises at every level: sound, the same outputs by name, type and, run by the reference evaluator on
// several sizes, value; at basic also where inputs are infinite or not numbers; the same text when done
// twice; nothing to do in a second run; and the runtime's kernels agree with the evaluator. `runs` counts the
// data sets that were compared.
Fault CheckGraph(const Graph& graph, const CheckOptions& options, int* runs = nullptr);

// The rules without which the fault is gone.
std::vector<std::string> Culprits(const Graph& graph, const CheckOptions& options, const Fault& fault);

// A smaller graph with a fault at the same level.
std::unique_ptr<Graph> ShrinkGraph(const Graph& graph, const CheckOptions& options, const Fault& fault);

}  // namespace tern
