// The results of a graph and their sensitivity to rounding, measured by running it again with every
// intermediate result perturbed.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

struct Outcome {
  DatumList inputs, outputs;
  std::vector<std::vector<double>> slack;  // per output and element; infinite where any value is accepted
};

Result<Outcome> OutcomeOf(const Graph& graph, const DatumList& inputs);
// Empty when the data match the outcome within its slack. Not strict: any two of infinity and NaN count as
// equal.
std::string Differs(const Graph& graph, const Outcome& wanted, const DatumList& got, bool strict);

}  // namespace tern
