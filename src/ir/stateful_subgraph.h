// A node's subgraph that runs many times and keeps some values between the runs, such as the decoder of a
// beam search.
#pragma once
#include <memory>
#include <vector>

#include "core/datum.h"

namespace tern {

// A state of a subgraph. In each run, the input `input` has the value that the output `output` had after the
// previous run.
struct SubgraphState {
  int input = 0, output = 0;  // indices among the inputs and outputs of the subgraph
  int axis = -1;              // the growing axis; -1 means a fixed size
};

// Not thread-safe.
class StatefulSubgraph {
 public:
  virtual ~StatefulSubgraph() = default;
  // `inputs` has one datum for each input of the subgraph. The data of inputs that are states are ignored.
  virtual Status Run(const DatumList& inputs) = 0;
  // Returns an output of the last run, valid until the next run. The datum is empty if the output is a state.
  virtual const Datum& Output(int i) const = 0;
  virtual const Dims& StateDims(int state) const = 0;  // dims of a state after the last run
  // Replaces row i of each state by row parents[i] of the same state. Row i is the part of a state with index
  // i along `axis`. `axis` must come before the growing axis. `parents` has one entry per row.
  virtual Status SelectRows(int axis, const std::vector<size_t>& parents) = 0;
};

}  // namespace tern
