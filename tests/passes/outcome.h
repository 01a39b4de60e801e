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
  // The same where f16 and bf16 may be computed in f32 (WidenHalf): Casts to them need not round.
  std::vector<std::vector<double>> wide_slack;
};

struct Strictness {
  bool infinities = false;  // otherwise any two of infinity and NaN count as equal
  bool halves = true;       // otherwise by wide_slack
};

Result<Outcome> OutcomeOf(const Graph& graph, const DatumList& inputs);
// Empty when the data match the outcome within its slack.
std::string Differs(const Graph& graph, const Outcome& wanted, const DatumList& got,
                    const Strictness& strict);

}  // namespace tern
