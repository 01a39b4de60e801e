// A node's subgraph that runs many times and keeps some values between the runs, such as the decoder of a
// search.
#pragma once
#include <memory>
#include <vector>

#include "core/datum.h"

namespace tern {

// An input of a subgraph that reads the value that an output had in the previous run.
struct SubgraphState {
  int input = 0, output = 0;  // indices
  int axis = -1;              // the growing axis; -1: fixed size
};

// Not thread-safe.
class StatefulSubgraph {
 public:
  virtual ~StatefulSubgraph() = default;
  // inputs: all inputs of the subgraph; those that are states are ignored.
  virtual Status Run(const DatumList& inputs) = 0;
  // An output of the last run, valid until the next one. Empty if the output is a state.
  virtual const Datum& Output(int i) const = 0;
  virtual const Dims& StateDims(int state) const = 0;  // after a run
  // Replaces row i of each state by its row parents[i], along an axis before the growing one. parents has one
  // entry per row.
  virtual Status SelectRows(int axis, const std::vector<size_t>& parents) = 0;
};

}  // namespace tern
