// Running a model: the one entry to the runtime.
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

struct MemoryReport {
  size_t weights = 0;  // constants of the graph, mapped or not
  size_t folded = 0;   // constants computed ahead
  size_t packed = 0;   // weights in the form that kernels want
  size_t arena = 0;    // intermediate values of fixed size: the most that any plan needs
  size_t dynamic = 0;  // blocks for values of varying size
  size_t dynamic_peak = 0;
};

// A node that has no fitting kernel and runs by its slow reference evaluator.
struct Fallback {
  std::string node;  // "node 'a/b' (TopK, onnx node #3)"
  std::string op;
};

struct StepInfo {
  const Node* node = nullptr;
  std::string kernel;
  bool dynamic = false;
  const Node* next = nullptr;  // done in the same step
};

using NamedData = std::vector<std::pair<std::string, Datum>>;

// For one thread at a time. Clones are independent and may run at the same time; they share graph and
// weights.
class Session {
 public:
  // A graph that the caller gives away (the only pointer to it) is optimized itself instead of a copy.
  static Result<std::unique_ptr<Session>> Create(std::shared_ptr<const Graph> graph,
                                                 const SessionOptions& options = {});
  ~Session();
  std::unique_ptr<Session> Clone() const;

  // As it runs. It never changes, and may be read while clones run. Optimized graphs have no data in their
  // own constants of 16 KiB and more, only type and dims: kernels hold it in forms of their own, and the
  // caller of Create has the graph as it was.
  const Graph& graph() const;
  int InputCount() const;
  int OutputCount() const;

  // Simple: results are the caller's own. Inputs in the graph's order, or by name; by name, constants that
  // the graph marks as overridable can be fed too.
  Result<DatumList> Run(const DatumList& inputs);
  Result<DatumList> Run(const NamedData& inputs);

  // Constants of the model that can be fed by name.
  const std::vector<Value*>& Overridable() const;
  // A session on the same weights that takes these overridable constants as further inputs, behind its own.
  // Ends early where SetStop of this session says so.
  Result<std::unique_ptr<Session>> Overriding(const std::vector<std::string>& names) const;

  // Without allocation: bind once, then Run as often as wished. The session keeps the views it is given;
  // their bytes are read during Run. A change of shape takes effect at the next Run, which then makes or
  // finds a plan.
  Status BindInput(int i, const Datum& value);
  Status BindInput(std::string_view name, const Datum& value);
  // Where output i goes: a contiguous tensor of the right type and dims, kept by reference. An undefined
  // tensor returns it to the session's memory.
  Status BindOutput(int i, const Tensor& tensor);
  Status Run();
  // A view that is valid until the next Run, or until a bound input it shares memory with goes away.
  const Datum& Output(int i) const;

  // States (GraphState) are inputs and outputs that callers neither feed nor read: a run reads what the run
  // before wrote. They begin empty, or as zeros where their size is fixed. Clones have states of their own.
  bool IsStateInput(int i) const;
  bool IsStateOutput(int i) const;
  int64_t StateLength() const;  // along the axis that grows, as of the last run's start
  void ResetState();
  Status SetState(const std::string& input, const Tensor& value);  // contiguous, of any length
  Result<Tensor> GetState(const std::string& input) const;         // a copy

  // Makes the plan for the inputs bound now without running it.
  Status Prepare();

  void SetObserver(RunObserver* observer);  // null: none
  // Ends the runs that follow when it says so, between two steps, with kCancelled. The session stays usable.
  void SetStop(const Stop& stop);
  std::vector<Fallback> Fallbacks() const;  // seen in the plans made so far
  std::vector<StepInfo> Steps() const;      // of the plan used last
  // Of the plan used last, one for all pieces of a batch that are alike, and of the last plans of the graphs
  // inside of its nodes; empty unless options say explain.
  std::vector<Choice> Choices() const;
  TuneReport Tuning() const;
  // What the caller should know though every call succeeded: measurements that are not kept, ops that run by
  // their slow evaluators unasked. Of the plans made so far.
  std::vector<std::string> Warnings() const;
  MemoryReport Memory() const;
  // Weights as the kernels of the plans made so far want them; see runtime/model/packs.h.
  Packs PackedWeights() const;
  int PlanCount() const;  // of the model's own graph that this session keeps memory for
  int PlansMade() const;  // ever, by this session and its clones, nested graphs included

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tern
