// The outputs of a graph and their sensitivity to rounding. The sensitivity is measured by running the graph
// again with random rounding errors in all intermediate results.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

struct Outcome {
  DatumList inputs, outputs;
  // The tolerance per output and element. If it is infinite, any value is accepted.
  std::vector<std::vector<double>> slack;
  // The tolerance if the optimizer may compute f16 and bf16 in f32 (WidenHalf). Casts to f16 and bf16 then
  // need not round.
  std::vector<std::vector<double>> wide_slack;
};

struct Strictness {
  bool infinities = false;  // if false, all infinities and NaNs are equal to each other
  bool halves = true;       // if false, wide_slack replaces slack
};

Result<Outcome> OutcomeOf(const Graph& graph, const DatumList& inputs);
// Returns an empty string if `got` equals the outputs of `wanted` within their slack. Otherwise returns a
// message.
std::string Differs(const Graph& graph, const Outcome& wanted, const DatumList& got,
                    const Strictness& strict);

}  // namespace tern
