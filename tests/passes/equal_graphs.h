// Runs two graphs on the reference evaluator with the same random inputs and compares the results.
#pragma once
#include <map>
#include <string>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// Inputs for the graph; symbols and unknown dims get a size. Integers are small and not negative.
DatumList RandomInputs(const Graph& graph, const std::map<std::string, int64_t>& symbols, unsigned seed);
// Empty when the outputs have the same names, types and, within the rounding of their type, elements.
std::string CompareGraphs(const Graph& before, const Graph& after,
                          const std::map<std::string, int64_t>& symbols, unsigned seed);

}  // namespace tern
