// First half of compilation: infers the type of every value for given input shapes, folds what is known, and
// lists the nodes that remain to run.
#pragma once
#include <algorithm>

#include "kernel_api/target.h"
#include "runtime/model/program.h"
#include "runtime/plan/varying.h"

namespace tern {

// Facts about a slot that are known before the run.
struct SlotFacts {
  Type type;
  std::optional<Content> content;
  Tensor known;            // the value, if it is known; see has_data
  bool weight = false;     // known, and the same in all plans
  LinearDims varying;      // the dims, if they depend on the length of the states; else empty
  Tensor device_copy;      // copy of `known` in a device's memory
  bool refreshed = false;  // known, but depends on the length of the states: SetLength writes it
  int host_slot = -1;      // known, but in a device's memory: the slot with the value in host memory

  bool is_known() const { return known.defined(); }
  // Known, but a step writes it in every run: the copy of a refreshed value in a device's memory.
  bool is_written() const { return refreshed && host_slot >= 0; }
  // False for a weight that was released after packing.
  bool has_data() const { return known.defined() && (known.raw() || !known.bytes()); }
  // A numeric tensor with known dims, which can be placed in memory before the run.
  bool is_static() const {
    return type.tensor() && type.dtype != DType::kInvalid && type.dtype != DType::kString &&
           type.shape.fully_known();
  }
  // A string, sequence, map or optional: not in the arena, never passed to kernels.
  bool is_host() const {
    return (!type.tensor() && type.kind != Type::Kind::kUnknown) || type.dtype == DType::kString;
  }
  size_t bytes() const;  // of a static tensor
};

struct PlanNode;
// Whether an input or output of the node depends on the length of the states.
bool Varies(const PlanNode& node, const std::vector<SlotFacts>& slots);
// Whether an input is a string, sequence or map. Only the reference evaluator can run such a node.
bool ReadsHostValue(const PlanNode& node, const std::vector<SlotFacts>& slots);

// A graph input or a capture.
struct PlanInput {
  Type type;
  Tensor known;  // the data of a small capture that the enclosing plan knows; else undefined
};

// A node with the slots of the plan. Slots equal those of the program, except for nodes of an inlined
// subgraph.
struct PlanNode {
  const NodeProgram* program = nullptr;
  std::vector<int> inputs, outputs;        // -1: an absent input
  std::vector<std::vector<int>> captures;  // per subgraph
  // Of a node with subgraphs: a kernel of the target computes it. All its inputs and outputs are static.
  bool has_kernel = false;
  double share = 1;  // fraction of the node's work; below 1 for a slice of a split batch
  // FuseNext sets these: the next node, the slot of the intermediate value, and the kernel for both nodes.
  // The step then also computes the next node, and `outputs` are the outputs of the next node.
  const NodeProgram* next = nullptr;
  int intermediate = -1;
  const KernelEntry* fused_entry = nullptr;
  const Node& node() const { return *program->node; }
};

struct Lowered {
  Varying varying;
  std::vector<SlotFacts> slots;    // the program's, then those of inlined subgraphs
  std::vector<PlanNode> nodes;     // to run, in order
  std::vector<int> outputs;        // slots of the graph's outputs
  std::vector<int> state_outputs;  // slots in the memory of a session's state

  bool IsStateOutput(int slot) const {
    return std::find(state_outputs.begin(), state_outputs.end(), slot) != state_outputs.end();
  }
};

// Returns the kernel query of a node whose inputs and outputs are static. bf16: KernelOperands::bf16.
KernelQuery QueryFor(const PlanNode& node, const std::vector<SlotFacts>& slots, bool bf16);

struct LowerOptions {
  bool bf16 = false;  // KernelOperands::bf16
  // Set if the inputs' types contain LengthSymbol(); the facts are then those for this length, and `varying`
  // lists what depends on the length.
  std::optional<int64_t> max_length = {};
};

// weights: the weights of the program, by slot; undefined for values that are not weights.
//
// A node with subgraphs runs by a kernel if its inputs and outputs are static, its subgraphs capture no
// values, and the target has a legal kernel. Otherwise an If with a known condition is replaced by the nodes
// of its branch and a Fused by those of its body; other nodes run by the reference evaluator.
Result<Lowered> Lower(const Program& program, const std::vector<Tensor>& weights,
                      const std::vector<PlanInput>& inputs, const Target& target, const Workers& workers,
                      const LowerOptions& options);

}  // namespace tern
