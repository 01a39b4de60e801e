// The first half of compilation. It infers the type of every value for given input shapes, folds nodes whose
// inputs are known, and lists the nodes that remain to run.
#pragma once
#include <algorithm>

#include "kernel_api/target.h"
#include "runtime/model/precision.h"
#include "runtime/model/program.h"
#include "runtime/plan/varying.h"

namespace tern {

// Facts about a slot that are known before the run.
struct SlotFacts {
  Type type;
  std::optional<Content> content;
  Tensor known;         // the value, if it is known; see has_data
  bool weight = false;  // whether the value is known and the same in all plans
  LinearDims varying;   // the dims, if they depend on the length of the states; else empty
  Tensor device_copy;   // copy of `known` in a device's memory
  // Whether the value depends on the length of the states, so that SetLength writes `known`.
  bool refreshed = false;
  // For a known value in a device's memory: the slot with the same value in host memory.
  int host_slot = -1;

  bool is_known() const { return known.defined(); }
  // Returns whether the value is known and yet a step writes it in every run. Such a value is in a device's
  // memory. SetLength updates the value in host memory, and the step copies it to the device.
  bool is_written() const { return refreshed && host_slot >= 0; }
  // Returns whether the value is known and its data is in memory. Returns false for a weight that was
  // released after packing.
  bool has_data() const { return known.defined() && (known.raw() || !known.bytes()); }
  // Returns whether the value is a numeric tensor with known dims, so that it can be placed in memory before
  // the run.
  bool is_static() const {
    return type.tensor() && type.dtype != DType::kInvalid && type.dtype != DType::kString &&
           type.shape.fully_known();
  }
  // Returns whether the value is a string, sequence, map or optional. Such values are not in the arena and
  // are never passed to kernels.
  bool is_host() const {
    return (!type.tensor() && type.kind != Type::Kind::kUnknown) || type.dtype == DType::kString;
  }
  size_t bytes() const;  // the value must be static
};

struct PlanNode;
// Returns whether an input or output of the node depends on the length of the states.
bool Varies(const PlanNode& node, const std::vector<SlotFacts>& slots);
// Returns whether an input is a string, sequence, map or optional. Only the reference evaluator can run such
// a node.
bool ReadsHostValue(const PlanNode& node, const std::vector<SlotFacts>& slots);

// A graph input or a capture.
struct PlanInput {
  Type type;
  Tensor known;  // the data, if the input is a small capture that the enclosing plan knows; else undefined
};

// A node with its slots in the plan. The slots equal those of the program, except for nodes of an inlined
// subgraph.
struct PlanNode {
  const NodeProgram* program = nullptr;
  std::vector<int> inputs, outputs;        // -1 for an absent input
  std::vector<std::vector<int>> captures;  // slots of the captures of each subgraph
  // True for a node with subgraphs that a kernel of the target computes. All inputs and outputs of such a
  // node are static.
  bool has_kernel = false;
  double share = 1;  // fraction of the node's work; below 1 for a slice of a split batch
  // FuseNext sets these three members if the step also computes the next node. `intermediate` is the slot of
  // the value between the two nodes. `fused_entry` is the kernel for both nodes. `outputs` are then the
  // outputs of the next node.
  const NodeProgram* next = nullptr;
  int intermediate = -1;
  const KernelEntry* fused_entry = nullptr;
  const Node& node() const { return *program->node; }
};

struct Lowered {
  Varying varying;
  std::vector<SlotFacts> slots;    // slots of the program, then slots of inlined subgraphs
  std::vector<PlanNode> nodes;     // the nodes to run, in order
  std::vector<int> outputs;        // slots of the graph's outputs
  std::vector<int> state_outputs;  // slots whose values are written directly into the memory of a state

  bool IsStateOutput(int slot) const {
    return std::find(state_outputs.begin(), state_outputs.end(), slot) != state_outputs.end();
  }
};

// Returns the kernel query of a node whose inputs and outputs are static.
KernelQuery QueryFor(const PlanNode& node, const std::vector<SlotFacts>& slots, const Rounding& rounding);

struct LowerOptions {
  Rounding rounding = {};
  // Must be set if the inputs' types contain LengthSymbol(). Then SlotFacts describes values of this length,
  // and Lowered::varying lists the dims and values that depend on the length.
  std::optional<int64_t> max_length = {};
};

// Lowers a program for given inputs. `weights` contains the weights of the program, by slot. Entries of other
// values are undefined tensors.
//
// An If with a known condition is replaced by the nodes of its branch. A kernel runs any other node with
// subgraphs on three conditions: its inputs and outputs are static, its subgraphs capture no values, and the
// target has a legal kernel. Otherwise a Fused is replaced by the nodes of its body, and the reference
// evaluator runs other nodes.
Result<Lowered> Lower(const Program& program, const std::vector<Tensor>& weights,
                      const std::vector<PlanInput>& inputs, const Target& target, const Workers& workers,
                      const LowerOptions& options);

}  // namespace tern
