// A graph compiled for given input shapes: a flat list of steps over slots whose places in memory are fixed.
// It belongs to the model and is shared by its sessions; an Execution (exec/execution.h) gives it memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/engine.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/transfers.h"

namespace tern {

struct BatchParts;

// What makes two runs share a plan: kind, type and dims of each bound value, and the data of known captures.
struct BoundKey {
  Datum::Kind kind = Datum::Kind::kEmpty;
  DType dtype = DType::kInvalid;
  Dims dims;
  Tensor known;
  LinearDims varying;  // in place of dims, where a plan serves several lengths
};

// A value handed to a plan. known: its data will not change while the enclosing plan lives, so it may be
// compiled in.
struct BoundValue {
  const Datum* datum = nullptr;
  bool known = false;
};

// Inputs and outputs are slots; -1 stands for an absent input.
struct Step {
  const PlanNode* node = nullptr;
  const KernelEntry* entry = nullptr;
  std::unique_ptr<Kernel> kernel;  // resized; executions run copies of it. Null: the reference evaluator
  const char* kernel_name = "";
  bool dynamic = false;   // shapes depend on data: kernel and memory are found in every run
  bool varying = false;   // resized in runs, when the length of a state or its capacity has changed
  bool on_state = false;  // appends to a state in place
  std::vector<int> inputs, outputs;
  size_t scratch = 0;             // bytes
  size_t scratch_offset = 0;      // in the arena
  MemorySpace* memory = nullptr;  // that the kernel works on, scratch memory included; null: the host's
  std::vector<Type> types;        // of the outputs, for the evaluator
  std::vector<bool> weights;      // of the inputs
  std::vector<int> release;       // dynamic slots that nobody reads later
};

// How a plan works on a state of the model.
struct PlanState {
  int past = -1, present = -1;  // slots
  bool external = false;        // the present is written straight into the state's memory
  bool in_place = false;        // and past and present share it: the kernel appends
};

// Immutable once compiled.
class Plan {
 public:
  // bound: the graph's inputs, then its captures.
  // range: the plan serves all lengths of it; null: just the dims of `bound`. Fails with kUnsupported where
  // the graph has no plan for several lengths.
  static Result<std::shared_ptr<const Plan>> Compile(Engine& engine, const Program& program,
                                                     const std::vector<BoundValue>& bound,
                                                     const LengthRange* range = nullptr);

  // length: of the growing states.
  bool Matches(const std::vector<BoundValue>& bound, int64_t length = 0) const;
  const Varying* varying() const { return varying_.most > 0 ? &varying_ : nullptr; }
  const std::vector<PlanState>& states() const { return states_; }  // in the graph's order

  const Program& program() const { return program_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Type and dims of each slot, and the data where it is known; dynamic slots are empty.
  const std::vector<Datum>& slots() const { return slots_; }
  const std::vector<int>& outputs() const { return outputs_; }  // slots
  bool is_known(int slot) const { return known_[static_cast<size_t>(slot)]; }
  bool is_placed(int slot) const { return placed_[static_cast<size_t>(slot)]; }  // lies in a storage
  const Layout& layout() const { return layout_; }
  const std::vector<size_t>& offsets() const { return offsets_; }  // of storages in the arena
  const std::vector<int>& residents(int storage) const { return residents_[static_cast<size_t>(storage)]; }
  // Memories and the bytes that the plan needs there; the host's is always among them.
  const std::vector<std::pair<MemorySpace*, size_t>>& arenas() const { return arenas_; }
  size_t arena_bytes() const;  // in all of them
  // Why static steps have their kernels, where the engine explains.
  const std::vector<Choice>& choices() const { return choices_; }
  const std::vector<const Node*>& fallbacks() const { return fallbacks_; }  // run by the reference evaluator

 private:
  friend class PlanCompiler;
  explicit Plan(const Program& program) : program_(program) {}

  const Program& program_;
  std::vector<PlanNode> nodes_;
  std::shared_ptr<const BatchParts> parts_;  // what some of them stand for
  std::vector<int> outputs_;
  std::vector<BoundKey> keys_;
  std::vector<Datum> slots_;
  std::vector<bool> known_, placed_;  // by slot
  std::vector<Step> steps_;
  std::vector<Choice> choices_;
  std::vector<const Node*> fallbacks_;
  Varying varying_;
  std::vector<PlanState> states_;
  Layout layout_;
  std::vector<size_t> offsets_;
  std::vector<std::vector<int>> residents_;  // slots of each storage
  std::vector<std::pair<MemorySpace*, size_t>> arenas_;
  Transfers transfers_;
};

}  // namespace tern
