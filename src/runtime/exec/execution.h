// Runs a plan in a session's memory. An Execution owns the values, clones of the kernels, and everything else
// that changes from run to run.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/plan/plan.h"

namespace tern {

// The mutable part of a Step.
struct StepState {
  const Step* step = nullptr;
  RunContext context;
  std::unique_ptr<Kernel> kernel;  // null if the reference evaluator runs the step
  const KernelEntry* entry = nullptr;
  const char* kernel_name = "";
  std::vector<Type> types;             // output types, for the reference evaluator
  std::optional<Choice> why;           // kernel choice of a dynamic step; set only with options.explain
  std::vector<TensorInfo> why_inputs;  // the inputs that `why` describes
  std::unique_ptr<KernelQuery> query;  // query of a varying step; SetLength updates its dims
  Buffer larger_scratch;               // replaces the planned scratch memory when a length needs more
  const PlanNode& node() const { return *step->node; }
};

// Not thread-safe. The engine must outlive the execution.
class Execution {
 public:
  Execution(std::shared_ptr<const Plan> plan, Engine& engine);
  Execution(const Execution&) = delete;

  const Plan& plan() const { return *plan_; }
  // Sets the length and the capacity of the states, in positions, and resizes the steps that depend on them.
  // Call it before Run if the plan has states. Later calls allocate memory only if a kernel allocates or
  // needs more scratch memory than before.
  Status SetLength(int64_t length, int64_t capacity);
  // Later runs write the present of this state to `present`. The state must have PlanState::external set.
  void BindState(int state, const Buffer& present);
  // Runs all steps. Allocates nothing if all steps are static and have kernels.
  Status Run(const std::vector<BoundValue>& bound);
  // Returns output i, which is valid until the next Run of any plan of the same session and depth. An output
  // that is also an input shares the input's memory.
  const Datum& Output(int i) const { return At(plan_->outputs()[static_cast<size_t>(i)]); }
  // Returns whether the type and the dims of output i are known before the run.
  bool Planned(int i) const {
    const int slot = plan_->outputs()[static_cast<size_t>(i)];
    return plan_->layout().places[static_cast<size_t>(slot)].storage >= 0;
  }
  // Later runs write output i to this tensor. If the tensor is undefined, later runs write output i to the
  // session's memory again. Returns false if the output cannot be redirected. The caller must then copy it.
  bool Redirect(int i, const Tensor& tensor);
  // Drops the references to inputs, bound outputs and dynamic values, so that a cached execution does not
  // keep their memory alive.
  void Release();

  const std::vector<StepState>& steps() const { return steps_; }
  const std::vector<Datum>& slots() const { return slots_; }
  // Returns the choices of static steps, then those of dynamic steps in the last run. Empty unless
  // options.explain is set.
  std::vector<Choice> Choices() const;

 private:
  friend class ExecutionEvalContext;
  Datum& At(int slot) { return slots_[static_cast<size_t>(slot)]; }
  const Datum& At(int slot) const { return slots_[static_cast<size_t>(slot)]; }
  void Connect(const Step& step);
  void MakeQuery(StepState& state);
  Status ResizeStep(StepState& step, int64_t capacity);

  Status Bind(const std::vector<BoundValue>& bound);
  void BindInput(int slot, const Datum& datum);
  void Rebase(int storage, const Buffer& buffer);
  void RebaseArena(size_t index, const Arena& arena);
  void ForgetBases() { std::fill(bases_.begin(), bases_.end(), nullptr); }

  Status RunStep(StepState& step);
  Status RunObserved(StepState& step, int index);
  Status RunEvaluator(StepState& step);

  // These functions run steps whose shapes depend on data (execution_dynamic.cc).
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
  std::vector<int> redirected_;          // by storage: the output that a caller's tensor receives, or -1
  std::vector<Arena*> arenas_;           // the arenas that the plan uses
  std::vector<const std::byte*> bases_;  // by arena of the plan: the base address that the slots use
  int64_t length_ = -1, capacity_ = -1;  // arguments of the last SetLength that succeeded
};

}  // namespace tern
