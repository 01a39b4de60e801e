// The costs of running a model, for reports.
#pragma once
#include <map>
#include <string>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern::compress {

// Costs of one run of a model.
struct RunCost {
  double ms = 0;                         // the shortest run
  size_t memory = 0;                     // bytes of weights and intermediate values at their peak
  std::map<std::string, double> layers;  // ms of nodes by name, each the shortest
};

struct RunCosts {
  RunCost before, after;
};

// Measures two models on the same inputs. Runs of the two models alternate.
Result<RunCosts> MeasureCosts(const Graph& before, const Graph& after, const DatumList& inputs, int threads);

}  // namespace tern::compress
