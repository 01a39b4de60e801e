// The states of a session: values that live between its runs.
#pragma once
#include <string>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/memory/state_memory.h"

namespace tern {

// One StateMemory per GraphState, fed to plans as inputs and updated by them. Used by one thread at a time.
class States {
 public:
  explicit States(const Graph& graph);
  bool empty() const { return graph_.states().empty(); }
  bool IsInput(int i) const { return is_input_[static_cast<size_t>(i)]; }
  bool IsOutput(int i) const { return is_output_[static_cast<size_t>(i)]; }

  // Puts the pasts into the inputs that are states. Makes the memory on first use, when the other inputs tell
  // what the symbols of the declared dims are.
  Status Feed(DatumList& inputs);
  // Of the growing states.
  int64_t length() const { return length_; }
  // How the dims of the inputs depend on the length, judged by this run and the one before. Null: that cannot
  // be told.
  const LengthRange* RangeFor(const DatumList& inputs);

  // Before a run: room for the presents, and where the plan writes them.
  Status Begin(Execution& execution);
  // After a run that succeeded.
  void End(Execution& execution, const DatumList& inputs);

  void Reset();
  Status Set(const std::string& input, const Tensor& value);
  Result<Tensor> Get(const std::string& input) const;

 private:
  int Find(const std::string& input) const;
  Status MakeMemory(const DatumList& inputs);
  Status Place(Execution& execution);

  const Graph& graph_;
  std::vector<int> inputs_;  // numbers of the graph's inputs, by state
  std::vector<bool> is_input_, is_output_;
  std::vector<StateMemory> memory_;
  std::vector<std::pair<int, Tensor>> given_;  // values that were set before there was memory
  int64_t length_ = 0;

  const Execution* planned_ = nullptr;  // that presents_ are of
  std::vector<LinearDim> presents_;     // length of the present, by state

  bool has_last_ = false;
  std::vector<Dims> last_dims_;  // of the inputs in the run before
  int64_t last_length_ = 0;
  LengthRange range_;
};

}  // namespace tern
