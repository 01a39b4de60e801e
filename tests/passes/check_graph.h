// Checks all guarantees of the optimizer on one graph.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/level.h"

namespace tern {

struct Fault {
  std::string what;  // empty if there is no fault
  Level level = Level::kNone;
  std::vector<std::string> fired;  // rules and passes that changed the graph; set even if there is no fault
  explicit operator bool() const { return !what.empty(); }
};

struct CheckOptions {
  std::map<std::string, int64_t> symbols;  // sizes of symbols; other symbols have the size 3
  std::vector<std::string> disable;        // disabled rules
  unsigned seed = 1;                       // seed of the random data
};

// Optimises the graph at every level and checks for each level:
//  - The result is valid.
//  - Outputs have the same names and types.
//  - The reference evaluator computes the same values for several sizes of symbols. At level basic it also
//    computes the same values for infinite and NaN inputs.
//  - The runtime's kernels agree with the reference evaluator.
//  - Two runs of the optimizer have the same result, and optimizing the result again changes nothing.
// Values are not compared again if a level has the same result as the level before.
// `*runs` becomes the number of sets of input data for which results are compared.
Fault CheckGraph(const Graph& graph, const CheckOptions& options, int* runs = nullptr);

// Returns the rules and passes without which the fault does not occur. Each is disabled alone.
std::vector<std::string> Culprits(const Graph& graph, const CheckOptions& options, const Fault& fault);

// Returns a smaller graph with a fault of the same kind at the same level.
std::unique_ptr<Graph> ShrinkGraph(const Graph& graph, const CheckOptions& options, const Fault& fault);

}  // namespace tern
