// Runs two graphs on the reference evaluator with the same random inputs and compares the results.
#pragma once
#include <map>
#include <string>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// Returns random inputs for the graph. `symbols` are the sizes of symbols. Other open dims have the size 3.
// Integers are small and not negative.
DatumList RandomInputs(const Graph& graph, const std::map<std::string, int64_t>& symbols, unsigned seed);
// Returns an empty string if the outputs have the same names and types, and equal elements up to rounding.
// Otherwise returns a description of the first difference.
std::string CompareGraphs(const Graph& before, const Graph& after,
                          const std::map<std::string, int64_t>& symbols, unsigned seed);

}  // namespace tern
