// What a graph gives, with how far rounding may move it: found by running it again with every intermediate
// result a little off.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

struct Outcome {
  DatumList inputs, outputs;
  std::vector<std::vector<double>> slack;  // by output and element; infinite where anything goes
};

Result<Outcome> OutcomeOf(const Graph& graph, const DatumList& inputs);
// Empty when the data are the outcome's, within its slack. Not strict: any infinity or NaN stands for
// another.
std::string Differs(const Graph& graph, const Outcome& wanted, const DatumList& got, bool strict);

}  // namespace tern
