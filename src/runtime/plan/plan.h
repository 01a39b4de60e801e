// A graph compiled for given input shapes: a flat list of steps over slots whose memory is already placed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/exec/engine.h"
#include "runtime/plan/layout.h"

namespace tern {

struct BatchParts;

// What makes two runs share a plan: kind, type and dims of each bound value, and the data of known captures.
struct BoundKey {
  Datum::Kind kind = Datum::Kind::kEmpty;
  DType dtype = DType::kInvalid;
  Dims dims;
  Tensor known;
};

// A value handed to a plan. known: its data will not change while the enclosing plan lives, so it may be
// compiled in.
struct BoundValue {
  const Datum* datum = nullptr;
  bool known = false;
};

struct Step {
  const PlanNode* node = nullptr;
  const KernelEntry* entry = nullptr;
  std::unique_ptr<Kernel> kernel;  // null: the reference evaluator
  const char* kernel_name = "";
  bool dynamic = false;
  RunContext context;
  size_t scratch = 0;         // bytes
  size_t scratch_offset = 0;  // in the arena
  std::vector<Type> types;    // of the outputs, for the evaluator
  std::vector<bool> weights;  // of the inputs
  std::vector<int> release;   // dynamic slots that nobody reads later
  std::optional<Choice> why;  // of a dynamic step, where the engine explains
  std::vector<TensorInfo> why_inputs;
};

class Plan {
 public:
  // bound: the graph's inputs, then its captures.
  static Result<std::unique_ptr<Plan>> Compile(Engine& engine, const Program& program,
                                               const std::vector<BoundValue>& bound);

  bool Matches(const std::vector<BoundValue>& bound) const;
  // Allocates nothing when all steps are static and have kernels.
  Status Run(Engine& engine, const std::vector<BoundValue>& bound);
  // Valid until the next Run of any plan of the same session and depth; shares memory with inputs where a
  // model hands an input through.
  const Datum& Output(int i) const { return slots_[static_cast<size_t>(outputs_[static_cast<size_t>(i)])]; }
  // From the next run on, output i is written to this tensor (undefined: to the plan's own memory again).
  // False when the output cannot be redirected; the caller then copies.
  bool Redirect(int i, const Tensor& tensor);
  // Lets go of inputs, bound outputs and values of varying size, so that a plan that waits in a cache holds
  // no memory.
  void Release();

  const Program& program() const { return program_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Datum>& slots() const { return slots_; }
  bool is_known(int slot) const { return known_[static_cast<size_t>(slot)]; }
  size_t arena_bytes() const { return arena_bytes_; }
  const Layout& layout() const { return layout_; }
  // Where the engine explains; those that were made in the last run come last.
  std::vector<Choice> Choices() const;

 private:
  friend class PlanCompiler;
  explicit Plan(const Program& program) : program_(program) {}

  void Bind(Engine& engine, const std::vector<BoundValue>& bound);
  void BindInput(int slot, const Datum& datum);
  void Rebase(int storage, const Buffer& buffer);
  void RebaseArena(const Arena& arena);
  Status RunStep(Engine& engine, Step& step);
  Status RunObserved(Engine& engine, Step& step, int index);
  Status RunDynamic(Engine& engine, Step& step);
  Status RunDynamicBody(Engine& engine, Step& step);
  Status RunFallback(Engine& engine, Step& step);
  Status StoreContents(Engine& engine, Step& step, const std::vector<InferOutput>& outputs);
  Status RunDynamicKernel(Engine& engine, Step& step, const std::vector<Type>& types);
  Status ExplainDynamic(Engine& engine, Step& step, const KernelQuery& query);
  Status PlaceDynamic(Engine& engine, int slot, DType dtype, const Dims& dims);
  Status RunEvaluator(Engine& engine, Step& step);
  friend class PlanEvalContext;

  const Program& program_;
  std::vector<PlanNode> nodes_;
  std::shared_ptr<const BatchParts> pieces_;  // what some of them stand for
  std::vector<int> outputs_;                  // slots
  std::vector<BoundKey> keys_;
  std::vector<Datum> slots_;
  std::vector<bool> known_;   // by slot
  std::vector<bool> placed_;  // by slot: lies in a storage
  std::vector<Step> steps_;
  std::vector<Choice> choices_;
  Layout layout_;
  std::vector<size_t> offsets_;              // of storages in the arena
  std::vector<std::vector<int>> residents_;  // slots of each storage
  std::vector<int> redirected_;              // storages that lie in a caller's tensor
  size_t arena_bytes_ = 0;
  const std::byte* base_ = nullptr;  // the arena the slots point into
};

}  // namespace tern
