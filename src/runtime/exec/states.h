// The states of a session: values that persist between its runs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/memory/state_memory.h"

namespace tern {

class Runner;

// Owns one StateMemory per GraphState. Plans read a state as an input and write its next value as an output.
// Not thread-safe. The "past" is the value that a run reads, and the "present" is the value that it writes. A
// run calls Feed, Begin, Execution::Run and End. It calls Prepare after Feed if the previous execution does
// not match.
class States {
 public:
  explicit States(const Program& program);
  bool empty() const { return states_.empty(); }
  bool IsInput(int i) const { return is_input_[static_cast<size_t>(i)]; }
  bool IsOutput(int i) const { return is_output_[static_cast<size_t>(i)]; }

  // Sets the inputs that are states to their pasts. Until a run or Resize has succeeded, each call computes
  // the dims of the states again, because symbols in their declared dims get values from the other inputs. A
  // state whose dims change gets new memory.
  Status Feed(DatumList& inputs);
  // Returns the length that the growing states had in the last Feed, or 0 if no state grows.
  int64_t length() const { return length_; }
  // Returns the current length of the growing states, after the last run or Set.
  int64_t current_length() const;

  // Returns an execution that serves a range of lengths if possible. Otherwise the execution serves only the
  // current length.
  Result<Execution*> Prepare(Runner& runner, const std::vector<BoundValue>& bound);
  // Returns the reason why each plan serves only one length of the states. Returns an empty string if plans
  // may serve a range of lengths.
  const std::string& one_length() const { return one_length_; }

  // Call this before a run. Reserves memory for the presents, tells the execution where to write them, and
  // sets the inputs that are states to their pasts. Fails if a present differs from its past in a dim other
  // than the growing one.
  Status Begin(Execution& execution, DatumList& inputs);
  // Call this after a run that succeeded. The presents become the pasts. If End fails, no state has changed.
  Status End(Execution& execution, const std::vector<BoundValue>& bound);

  // Resets the states. The next run reads these values, one per state.
  Status Start(const std::vector<Tensor>& values);
  // Replaces row i of each state by its row parents[i], along an axis before the axis that grows. Copies only
  // rows that change.
  void SelectRows(int axis, const std::vector<size_t>& parents);
  // Sets the number of rows of each state along `axis`, and the length. Rows and positions that exist before
  // and after keep their values. Works before the first run, too. Fails if a state does not grow, or if its
  // growing axis is `axis` or an earlier one.
  Status Resize(int axis, int64_t rows, int64_t length);
  // Returns the memory of a state (StateMemory::Memory). Fails before the first run or Resize, and if the
  // state has a fixed size.
  Result<Tensor> Memory(const std::string& input) const;
  const Dims& dims(int state) const { return memory_[static_cast<size_t>(state)].past().dims(); }

  // Growing states become empty, and other states become zero. The next run may have another batch size.
  void Reset();
  Status Set(const std::string& input, const Tensor& value);
  Result<Tensor> Get(const std::string& input) const;
  // Copies the values of `other`, which has the same states.
  void CopyFrom(const States& other);

 private:
  const Value& Past(size_t state) const { return *states_[state].input; }
  Result<size_t> Find(const std::string& input) const;
  Status CheckDeclared(size_t state, const Tensor& value) const;
  Result<Dims> FirstDims(size_t state, const SymbolValues& symbols) const;
  Status MakeMemory(DatumList& inputs);
  Status MakeRows(int axis, int64_t rows);
  void PointToPasts(DatumList& inputs) const;
  bool Grows(size_t input, const LinearDim& dim) const;
  const LengthRange* RangeFor(const std::vector<BoundValue>& bound);
  // Reserves memory for the presents. Returns the capacity of the states that the plan updates in place. All
  // these states have the same capacity, because a kernel receives only one capacity.
  int64_t ReservePresents(const Plan& plan);
  void Remember(const std::vector<BoundValue>& bound);
  Status FindPresents(const Execution& execution);
  Status CheckPresent(size_t state, DType dtype, const Dims& present) const;

  const Graph& graph_;
  const std::vector<GraphState>& states_;
  std::vector<int> inputs_;  // index of the graph's input, by state
  std::vector<bool> is_input_, is_output_;
  bool begun_ = false;               // a run or Resize has succeeded since the last Reset
  bool resized_ = false;             // Resize was called after the last Feed
  std::vector<StateMemory> memory_;  // by state; Reset does not free it
  std::vector<Tensor> pending_;      // by state: value that Set stored while begun_ is false
  int64_t length_ = 0;
  std::string one_length_;

  const Execution* planned_ = nullptr;  // the execution that presents_ describes
  // By state: the length of the present as a function of the length of the past. nullopt means that the
  // length of the present is known only after the run.
  std::vector<std::optional<LinearDim>> presents_;

  bool has_last_ = false;
  std::vector<Dims> last_dims_;  // dims of the bound values in the previous run
  // Number of positions that the previous run read, and number that it added.
  int64_t last_length_ = 0, last_new_ = 0;
  LengthRange range_;
};

}  // namespace tern
