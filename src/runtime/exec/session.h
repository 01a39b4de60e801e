// Session runs a model. It is the entry point of the runtime.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "runtime/exec/observer.h"
#include "runtime/model/packs.h"
#include "runtime/options.h"
#include "runtime/tune/tuner.h"

namespace tern {

class Model;
class Target;

// Sizes in bytes.
struct MemoryReport {
  size_t weights = 0;  // constants of the graph, in mapped files or in memory; not those that were released
  size_t folded = 0;   // results of constant folding
  size_t packed = 0;   // weights in the layouts that kernels read
  size_t arena = 0;    // intermediate values of static size, for the largest plan so far
  size_t dynamic = 0;  // blocks for values of dynamic size
  size_t dynamic_peak = 0;
};

// A node that no kernel supports. The slow reference evaluator runs it.
struct Fallback {
  std::string node;  // "node 'a/b' (TopK, onnx node #3)"
  std::string op;
};

struct StepInfo {
  const Node* node = nullptr;
  std::string kernel;
  bool dynamic = false;
  const Node* next = nullptr;  // the node that the kernel fuses into this one; null if there is none
};

using NamedData = std::vector<std::pair<std::string, Datum>>;

// Not thread-safe. Use one clone per thread. Clones share the graph, weights and plans. Each clone owns the
// memory of its runs.
class Session {
 public:
  // Optimizes a copy of the graph, or the graph itself if the caller passes the only pointer to it.
  static Result<std::unique_ptr<Session>> Create(std::shared_ptr<const Graph> graph,
                                                 const SessionOptions& options = {});
  ~Session();
  std::unique_ptr<Session> Clone() const;

  // Returns the graph that runs, after optimization. It never changes, so reading it is thread-safe. If it
  // was optimized and options.keep_weights is false, its constants of 16 KiB and more have a type and dims
  // but no data. The session releases such a weight when the kernels have packed it.
  const Graph& graph() const;
  int InputCount() const;
  int OutputCount() const;

  // Runs the model and returns copies of the outputs, which the caller owns. Takes the inputs in the graph's
  // order, or by name. The names of overridable constants are accepted too. An output that is a state is
  // returned as an empty datum.
  Result<DatumList> Run(const DatumList& inputs);
  Result<DatumList> Run(const NamedData& inputs);

  // Returns the constants that can be fed by name.
  const std::vector<Value*>& Overridable() const;
  // Returns a session that shares the weights of this session. Its inputs are the model's inputs, followed by
  // the overridable constants with these names. Returns kCancelled if this session's Stop (SetStop) fires.
  Result<std::unique_ptr<Session>> Overriding(const std::vector<std::string>& names) const;

  // To run without allocation, bind the inputs once, then call Run() any number of times. The session stores
  // views of the values. It does not copy their bytes, so Run reads the bytes of the caller. After a change
  // of shape, the next Run looks up or compiles a plan.
  Status BindInput(int i, const Datum& value);
  Status BindInput(std::string_view name, const Datum& value);
  // Later runs write output i to `tensor`, which must be contiguous and have the output's type and dims. The
  // session keeps a reference to the tensor's buffer. An undefined tensor removes the binding.
  Status BindOutput(int i, const Tensor& tensor);
  Status Run();
  // Returns a view of output i that is valid until the next Run. The view may share the memory of a bound
  // input. Then the caller must keep this memory valid too. Returns an empty datum if the output is a state.
  const Datum& Output(int i) const;

  // States (GraphState) are pairs of an input and an output that callers neither feed nor read. Each run
  // reads the value that the previous run wrote. A growing state starts empty, and a state of fixed size
  // starts as zeros. Each clone has its own states.
  bool IsStateInput(int i) const;
  bool IsStateOutput(int i) const;
  int64_t StateLength() const;  // current length of the growing states; 0 if none grows
  // Growing states become empty, and other states become zero. The next run may have another batch size.
  void ResetState();
  // Sets a state to a copy of the value. A growing state accepts any length, but Run fails if the lengths of
  // growing states differ.
  Status SetState(const std::string& input, const Tensor& value);
  // Returns a copy of a state. Fails if no run, SetState or ResizeStates has set it since the last
  // ResetState.
  Result<Tensor> GetState(const std::string& input) const;
  // Copies the values of all states from another session with the same states.
  Status CopyStates(const Session& other);

  // Sets the number of rows of all states along `axis`, such as the batch, and the length of the growing
  // axis. Rows and positions that exist before and after keep their values; new ones have any earlier value
  // of the memory, or zeros. Fails if a state has a fixed size, or if its growing axis is `axis` or an
  // earlier one. If the call fails for lack of memory, call ResetState.
  Status ResizeStates(int axis, int64_t rows, int64_t length);
  // Returns the memory of a state, which the caller may read and write until the next call of another
  // function. The dim of the growing axis is the stride of its rows, which may exceed the length. Fails
  // before the first run or ResizeStates, and if the state has a fixed size.
  Result<Tensor> StateMemory(const std::string& input);

  // Compiles the plan for the bound inputs without running it.
  Status Prepare();
  // Returns the type and dims of output i in the next Run, as a tensor whose bytes must not be read. Call it
  // after Prepare. The tensor is undefined if the dims depend on data or the session has states.
  Tensor PlannedOutput(int i) const;

  void SetObserver(RunObserver* observer);  // null removes the observer
  // Later runs check `stop` between steps and return kCancelled when it fires. The session stays usable.
  void SetStop(const Stop& stop);
  // Later runs use at most `threads` threads. 0 and numbers above options.threads mean options.threads. Plans
  // stay valid.
  void SetThreads(int threads);
  std::vector<Fallback> Fallbacks() const;  // fallbacks in all plans so far
  std::vector<StepInfo> Steps() const;      // steps of the last plan
  // Returns the kernel choices of the last plan and of the last plans of its subgraphs. Equal slices of a
  // split batch share one entry. Empty unless options.explain is set.
  std::vector<Choice> Choices() const;
  TuneReport Tuning() const;
  // Returns warnings about all plans so far. There is a warning if the tuning record cannot be read or
  // written, if the reference evaluator runs ops that no kernel supports, or if the states need one plan per
  // length.
  std::vector<std::string> Warnings() const;
  MemoryReport Memory() const;
  // Returns the weights that were packed for the kernels of all plans so far (see runtime/model/packs.h).
  Packs PackedWeights() const;
  int PlanCount() const;  // plans of the main graph that this session has cached
  int PlansMade() const;  // plans that this session and its clones compiled, including plans of subgraphs

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tern
