// Runs a nested graph that has states, such as the decoder in a beam search.
#pragma once
#include "ir/stateful_subgraph.h"
#include "runtime/exec/states.h"

namespace tern {

// Reuses plans and the memory of the states when the enclosing node runs again. Not thread-safe.
class StatefulRunner {
 public:
  StatefulRunner(Engine& engine, const Program& program);

  // Sets the states to `values`, one per state. `captures` are values of enclosing graphs. They must stay
  // valid until Finish.
  Status Start(const std::vector<Tensor>& values, const std::vector<BoundValue>& captures);
  Status Run(const DatumList& inputs);
  // Releases the references to inputs and captures.
  void Finish();

  const Datum& Output(int i) const;  // output of the last Run; empty if the output is a state
  const States& states() const { return states_; }
  void SelectRows(int axis, const std::vector<size_t>& parents) { states_.SelectRows(axis, parents); }

 private:
  Engine& engine_;
  const Program& program_;
  States states_;
  DatumList inputs_;
  std::vector<BoundValue> bound_;  // pointers to inputs_, then the captures
  Execution* current_ = nullptr;   // execution of the last Run
};

}  // namespace tern
