// A plan with a session's memory: values, kernels of its own, and what changes from run to run.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/plan/plan.h"

namespace tern {

// The changing half of a Step.
struct StepState {
  const Step* step = nullptr;
  RunContext context;
  std::unique_ptr<Kernel> kernel;  // null: the reference evaluator
  const KernelEntry* entry = nullptr;
  const char* kernel_name = "";
  std::vector<Type> types;    // of the outputs, for the evaluator
  std::optional<Choice> why;  // of a dynamic step, where the engine explains
  std::vector<TensorInfo> why_inputs;
  std::unique_ptr<KernelQuery> query;  // of a varying step, which is resized in runs
  Buffer more_scratch;                 // where a length needs more than was planned
  const PlanNode& node() const { return *step->node; }
};

// Used by one thread at a time. Its session's engine outlives it.
class Execution {
 public:
  Execution(std::shared_ptr<const Plan> plan, Engine& engine);
  Execution(const Execution&) = delete;

  const Plan& plan() const { return *plan_; }
  // Resizes what depends on the length of the states, or on how many positions they have room for. Allocates
  // nothing where kernels do not. Before Run, whenever the plan has states.
  Status SetLength(int64_t length, int64_t capacity);
  // Where the present of a state is written from the next run on; only for states that the plan writes there.
  void BindState(int state, const Buffer& present);
  // Allocates nothing when all steps are static and have kernels.
  Status Run(const std::vector<BoundValue>& bound);
  // Valid until the next Run of any plan of the same session and depth; shares memory with inputs where a
  // model hands an input through.
  const Datum& Output(int i) const { return At(plan_->outputs()[static_cast<size_t>(i)]); }
  // From the next run on, output i is written to this tensor (undefined: to the session's memory again).
  // False when the output cannot be redirected; the caller then copies.
  bool Redirect(int i, const Tensor& tensor);
  // Lets go of inputs, bound outputs and values of varying size, so that an execution that waits in a cache
  // holds no memory.
  void Release();

  const std::vector<StepState>& steps() const { return steps_; }
  const std::vector<Datum>& slots() const { return slots_; }
  // Where the engine explains; those that were made in the last run come last.
  std::vector<Choice> Choices() const;

 private:
  friend class ExecutionEvalContext;
  Datum& At(int slot) { return slots_[static_cast<size_t>(slot)]; }
  const Datum& At(int slot) const { return slots_[static_cast<size_t>(slot)]; }
  void Connect(const Step& step);
  void MakeQuery(StepState& state);
  Status ResizeStep(StepState& step);

  Status Bind(const std::vector<BoundValue>& bound);
  void BindInput(int slot, const Datum& datum);
  void Rebase(int storage, const Buffer& buffer);
  void RebaseArena(size_t index, const Arena& arena);
  void ForgetBases() { std::fill(bases_.begin(), bases_.end(), nullptr); }

  Status RunStep(StepState& step);
  Status RunObserved(StepState& step, int index);
  Status RunEvaluator(StepState& step);

  // Steps whose shapes depend on data (execution_dynamic.cc).
  Status RunDynamic(StepState& step);
  Status RunDynamicBody(StepState& step);
  Status RunFallback(StepState& step);
  Status StoreContents(StepState& step, const std::vector<InferOutput>& outputs);
  Status RunDynamicKernel(StepState& step, const std::vector<Type>& types);
  Status ExplainDynamic(StepState& step, const KernelQuery& query);
  Status PlaceDynamic(int slot, DType dtype, const Dims& dims);

  const std::shared_ptr<const Plan> plan_;
  Engine& engine_;
  std::vector<Datum> slots_;
  std::vector<StepState> steps_;
  std::vector<int> redirected_;          // by storage: the output whose bound tensor it is, or -1
  std::vector<const std::byte*> bases_;  // of the arenas the slots point into, as the plan lists them
  int64_t length_ = -1, capacity_ = -1;  // that varying steps were resized for
};

}  // namespace tern
