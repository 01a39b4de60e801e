// A graph prepared for compilation. Its values are numbered as slots. Dead and folded nodes are removed.
// Immutable. All plans of the graph share it.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace tern {

struct Program;

// Results of constant folding, by value.
using FoldedValues = std::unordered_map<const Value*, Tensor>;

struct NodeProgram {
  const Node* node = nullptr;
  std::vector<int> inputs;   // slots; -1 for an absent input
  std::vector<int> outputs;  // slots, including those of unread outputs
  std::vector<std::unique_ptr<Program>> subgraphs;
  // For each subgraph: the values that it captures, as slots of this program.
  std::vector<std::vector<int>> captures;
};

struct Program {
  const Graph* graph = nullptr;
  // Number of enclosing graphs: 0 for the main graph, 1 for the body of a loop in it.
  int depth = 0;
  int input_count = 0;               // number of the graph's inputs, which are the first slots
  int capture_count = 0;             // number of captures that are not weights, which are the next slots
  std::vector<const Value*> values;  // by slot
  std::vector<Tensor> weights;       // by slot; undefined if the value is not a weight
  std::vector<int> outputs;          // slots of the graph's outputs
  std::vector<NodeProgram> nodes;    // in execution order
  // At depth 0, these are the states that the graph declares. In a subgraph, these are the states that the op
  // of its node keeps between iterations (StatesOfSubgraph in ir/op_execution.h).
  std::vector<GraphState> states;

  int slot_count() const { return static_cast<int>(values.size()); }
  int bound_count() const { return input_count + capture_count; }
};

Result<std::unique_ptr<Program>> BuildProgram(const Graph& graph, const FoldedValues& folded, int depth = 0);

}  // namespace tern
