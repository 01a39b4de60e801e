// A graph made ready for planning: values numbered as slots, dead and folded nodes left out. Immutable and
// shared by all plans of the graph.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace tern {

struct Program;

// Values that are no constants of the graph, but computed from constants only.
using FoldedValues = std::unordered_map<const Value*, Tensor>;

struct NodeProgram {
  const Node* node = nullptr;
  std::vector<int> inputs;   // slots; -1 where absent
  std::vector<int> outputs;  // slots, also of outputs nobody reads
  std::vector<std::unique_ptr<Program>> subgraphs;
  std::vector<std::vector<int>> captures;  // per subgraph: our slots of what it captures, in its order
};

struct Program {
  const Graph* graph = nullptr;
  int depth = 0;                     // 0 for a model, 1 for a loop's body in it, …
  int input_count = 0;               // slots [0, input_count): the graph's inputs
  int capture_count = 0;             // the next ones: values of enclosing graphs that are no weights
  std::vector<const Value*> values;  // by slot
  std::vector<Tensor> weights;       // by slot; undefined where the value is no weight
  std::vector<int> outputs;          // slots of the graph's outputs
  std::vector<NodeProgram> nodes;    // in order

  int slot_count() const { return static_cast<int>(values.size()); }
  int bound_count() const { return input_count + capture_count; }
};

Result<std::unique_ptr<Program>> BuildProgram(const Graph& graph, const FoldedValues& folded, int depth = 0);

}  // namespace tern
