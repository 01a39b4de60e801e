// A plan is a graph compiled for given input shapes. It is a list of steps that read and write slots, whose
// memory offsets are fixed. The model owns its plans, and its sessions share them. An Execution
// (exec/execution.h) runs a plan in a session's memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/engine.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/transfers.h"

namespace tern {

struct BatchSlices;

// The part of a plan's cache key that describes one bound value. Two runs share a plan if the keys of all
// their bound values are equal.
struct BoundKey {
  Datum::Kind kind = Datum::Kind::kEmpty;
  DType dtype = DType::kInvalid;
  Dims dims;
  Tensor known;
  LinearDims varying;  // replaces `dims` if the plan serves several lengths
};

// An input or capture of a plan. If `known` is true, the data does not change during the lifetime of the
// enclosing plan, so compilation may use it.
struct BoundValue {
  const Datum* datum = nullptr;
  bool known = false;
};

// A step of a plan. `inputs` and `outputs` contain slots. An absent input is -1.
struct Step {
  const PlanNode* node = nullptr;
  const KernelEntry* entry = nullptr;
  // The resized kernel, which executions clone. Null for a dynamic step and for the reference evaluator.
  std::unique_ptr<Kernel> kernel;
  const char* kernel_name = "";
  bool dynamic = false;   // shapes depend on data, so every run chooses the kernel and allocates memory
  bool varying = false;   // depends on the length or capacity of a state, so SetLength resizes the step
  bool on_state = false;  // appends to a state in place
  std::vector<int> inputs, outputs;
  size_t scratch = 0;             // bytes
  size_t scratch_offset = 0;      // in the arena
  MemorySpace* memory = nullptr;  // memory of the kernel's operands and scratch; null for host memory
  std::vector<Type> types;        // output types, for the reference evaluator
  std::vector<bool> weights;      // by input: whether it is a weight
  std::vector<int> release;       // dynamic slots whose last reader is this step
};

// How a plan updates a state of the model.
struct PlanState {
  int past = -1, present = -1;  // slots
  bool external = false;        // a step writes the present directly into the state's memory
  // Whether `external` is true and the kernel appends the new positions to the past in place.
  bool in_place = false;
};

// Immutable once compiled.
class Plan {
 public:
  // Compiles a plan. `bound` contains the graph's inputs, then its captures. The plan serves all lengths of
  // `range`. If `range` is null, the plan serves only the dims of `bound`. Fails with kUnsupported if one
  // plan cannot serve all lengths of `range`.
  static Result<std::shared_ptr<const Plan>> Compile(Engine& engine, const Program& program,
                                                     const std::vector<BoundValue>& bound,
                                                     const LengthRange* range = nullptr);

  // Returns whether the plan serves these values. `length` is the length of the growing states.
  bool Matches(const std::vector<BoundValue>& bound, int64_t length = 0) const;
  const Varying* varying() const { return varying_.max_length > 0 ? &varying_ : nullptr; }
  const std::vector<PlanState>& states() const { return states_; }  // in the graph's order

  const Program& program() const { return program_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Returns the type and dims of each slot, and its data if it is known. Dynamic slots are empty.
  const std::vector<Datum>& slots() const { return slots_; }
  const std::vector<int>& outputs() const { return outputs_; }  // slots
  bool is_known(int slot) const { return known_[static_cast<size_t>(slot)]; }
  // Returns a slot with the same known value in host memory. This is `slot` itself, unless its data is in a
  // device's memory.
  int host_slot(int slot) const { return host_slots_[static_cast<size_t>(slot)]; }
  bool is_placed(int slot) const { return placed_[static_cast<size_t>(slot)]; }  // whether it has a storage
  const Layout& layout() const { return layout_; }
  const std::vector<size_t>& offsets() const { return offsets_; }  // byte offset of each storage in its arena
  // Returns the slots of a storage.
  const std::vector<int>& residents(int storage) const { return residents_[static_cast<size_t>(storage)]; }
  // Returns each memory space that the plan uses, with the bytes that the plan needs in it. Always includes
  // host memory.
  const std::vector<std::pair<MemorySpace*, size_t>>& arenas() const { return arenas_; }
  size_t arena_bytes() const;  // sum over all memory spaces
  // Returns the kernel choices of static steps. Empty unless options.explain is set.
  const std::vector<Choice>& choices() const { return choices_; }
  // Returns the nodes that the reference evaluator runs because no kernel supports them.
  const std::vector<const Node*>& fallbacks() const { return fallbacks_; }

 private:
  friend class PlanCompiler;
  explicit Plan(const Program& program) : program_(program) {}

  const Program& program_;
  std::vector<PlanNode> nodes_;
  std::shared_ptr<const BatchSlices> batch_slices_;  // owns the Split and Concat nodes of split batches
  std::vector<int> outputs_;
  std::vector<BoundKey> keys_;
  std::vector<Datum> slots_;
  std::vector<bool> known_, placed_;  // by slot
  std::vector<int> host_slots_;       // by slot
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
