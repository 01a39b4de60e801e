// First half of compiling: what every value is for given input shapes, and which nodes are left to run.
#pragma once
#include <algorithm>

#include "kernel_api/target.h"
#include "runtime/model/program.h"
#include "runtime/plan/varying.h"

namespace tern {

// What is known about a slot before the run.
struct SlotFacts {
  Type type;
  std::optional<Content> content;
  Tensor known;            // defined: the data itself, see has_data
  bool weight = false;     // known, and the same in all plans
  LinearDims varying;      // dims, where the plan serves several lengths and they depend on the length
  Tensor elsewhere;        // known, as its reader finds it: in the memory of a device
  bool refreshed = false;  // known, but in each run anew: it depends on the length

  bool is_known() const { return known.defined(); }
  // Not so for a weight that has left memory in favour of a packed one.
  bool has_data() const { return known.defined() && (known.raw() || !known.bytes()); }
  // A tensor of numbers with fixed dims: it gets its place in memory before the run.
  bool is_static() const {
    return type.tensor() && type.dtype != DType::kInvalid && type.dtype != DType::kString &&
           type.shape.fully_known();
  }
  // May hold something other than a tensor of numbers: lives outside the arena, never seen by kernels.
  bool is_host() const {
    return (!type.tensor() && type.kind != Type::Kind::kUnknown) || type.dtype == DType::kString;
  }
  size_t bytes() const;  // of a static tensor
};

// Whether what the node reads or writes depends on the length that a plan serves.
struct PlanNode;
bool Varies(const PlanNode& node, const std::vector<SlotFacts>& slots);
// Whether an input is a string, sequence or map. Those never reach kernels: the evaluator is the only
// implementation.
bool ReadsHostValue(const PlanNode& node, const std::vector<SlotFacts>& slots);

// One bound value: a graph input or a capture.
struct PlanInput {
  Type type;
  Tensor known;  // defined for a small capture that the enclosing plan knows
};

// A node with the plan's slots. They are the program's, but for nodes of a branch that was put in place of
// its If.
struct PlanNode {
  const NodeProgram* program = nullptr;
  std::vector<int> inputs, outputs;        // -1: an absent input
  std::vector<std::vector<int>> captures;  // per subgraph
  double share = 1;                        // of the node's work, where its batch is cut
  // The node after it that is done with it, whose outputs the ones above then are, the slot of what lies
  // between them, and the kernel that does both (FuseNext).
  const NodeProgram* next = nullptr;
  int between = -1;
  const KernelEntry* both = nullptr;
  const Node& node() const { return *program->node; }
};

struct Lowered {
  Varying varying;
  std::vector<SlotFacts> slots;    // the program's, then those of inlined branches
  std::vector<PlanNode> nodes;     // what is left to run, in order
  std::vector<int> outputs;        // slots of the graph's outputs
  std::vector<int> state_outputs;  // slots that lie in the memory of a session's state

  bool IsStateOutput(int slot) const {
    return std::find(state_outputs.begin(), state_outputs.end(), slot) != state_outputs.end();
  }
};

// weights: of the program, by slot; undefined where a value is no weight. most: where the inputs' types
// contain LengthSymbol(), the largest length; facts are those for it then, and `varying` tells what depends
// on the length.
Result<Lowered> Lower(const Program& program, const std::vector<Tensor>& weights,
                      const std::vector<PlanInput>& inputs, const Target& target, const Workers& workers,
                      std::optional<int64_t> most = {});

}  // namespace tern
