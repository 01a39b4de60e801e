// The states of a session: values that persist between its runs.
#pragma once
#include <string>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/memory/state_memory.h"

namespace tern {

// One StateMemory per GraphState. Plans read it as an input and write its next value. Not thread-safe.
// "Past" is the value that a run reads, "present" the value that it writes.
class States {
 public:
  explicit States(const Graph& graph);
  bool empty() const { return graph_.states().empty(); }
  bool IsInput(int i) const { return is_input_[static_cast<size_t>(i)]; }
  bool IsOutput(int i) const { return is_output_[static_cast<size_t>(i)]; }

  // Sets the inputs that are states to their pasts. The first call allocates the memory, because the other
  // inputs then give the symbols of the declared dims their values.
  Status Feed(DatumList& inputs);
  // Length of the growing states along their axis; 0 if there are none.
  int64_t length() const { return length_; }
  // How the dims of the inputs depend on the length, derived from this run and the previous one. Null if the
  // two runs do not determine it.
  const LengthRange* RangeFor(const DatumList& inputs);

  // Call before a run: reserves memory for the presents and tells the plan where to write them.
  Status Begin(Execution& execution);
  // Call after a run that succeeded: the presents become the pasts.
  void End(Execution& execution, const DatumList& inputs);

  void Reset();
  Status Set(const std::string& input, const Tensor& value);
  Result<Tensor> Get(const std::string& input) const;

 private:
  int Find(const std::string& input) const;
  Status MakeMemory(const DatumList& inputs);
  Status Reserve(Execution& execution);

  const Graph& graph_;
  std::vector<int> inputs_;  // index of the graph's input, by state
  std::vector<bool> is_input_, is_output_;
  std::vector<StateMemory> memory_;
  std::vector<std::pair<int, Tensor>> pending_;  // (state, value) of Set calls before memory_ exists
  int64_t length_ = 0;

  const Execution* planned_ = nullptr;  // the execution that presents_ describes
  std::vector<LinearDim> presents_;     // length of the present, by state

  bool has_last_ = false;
  std::vector<Dims> last_dims_;  // of the inputs in the previous run
  int64_t last_length_ = 0;
  LengthRange range_;
};

}  // namespace tern
