// The IR: SSA values, nodes in topological order, nested graphs for control flow.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/type.h"
#include "ir/attrs.h"
#include "ir/infer_context.h"
#include "ir/op_def.h"

namespace tern {

class Graph;
class Node;

// A node's output, a constant, or a graph input. Owned by its graph; nested graphs may read it.
struct Value {
  std::string name;
  Type type;
  std::optional<Content> content;  // symbolic elements of a small integer tensor, found by inference
  Tensor constant;                 // defined for constants only
  Node* producer = nullptr;
  int output = 0;  // index among the producer's outputs
  Graph* graph = nullptr;
  bool is_input = false;
  // The nodes that read the value, also in nested graphs, each with the index of the input.
  std::vector<std::pair<Node*, int>> uses;
  int output_uses = 0;  // how often the value is an output of its graph or of nested graphs

  bool is_constant() const { return constant.defined(); }
  bool unused() const { return uses.empty() && output_uses == 0; }

 private:
  friend class Graph;
  std::list<std::unique_ptr<Value>>::iterator position_;
};

class Node {
 public:
  const OpDef* op = nullptr;
  Attrs attrs;
  std::string name;    // need not be unique; may be empty
  std::string origin;  // the source of the node: "MatMul, onnx node #142"
  std::string rule;    // the rewrite rule that created the node, if any; not stored in files
  Graph* graph = nullptr;

  const std::vector<Value*>& inputs() const { return inputs_; }  // null for an absent optional input
  const std::vector<Value*>& outputs() const { return outputs_; }
  Value* input(int i) const {
    return i < static_cast<int>(inputs_.size()) ? inputs_[static_cast<size_t>(i)] : nullptr;
  }
  Value* output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  void SetInput(int i, Value* value);  // appends absent inputs if i is beyond the last input
  bool unused() const;                 // true if no output has readers
  const std::vector<std::unique_ptr<Graph>>& subgraphs() const { return subgraphs_; }

  // "node 'a/b' (Conv, onnx node #3)", for messages.
  std::string Describe() const;

 private:
  friend class Graph;
  std::vector<Value*> inputs_, outputs_;
  std::vector<std::unique_ptr<Graph>> subgraphs_;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

// A value that a session keeps between runs, such as the keys and values of attention or the hidden state of
// a recurrent network. Each run reads the value from `input` (the past) and writes it to output number
// `output` (the present). See docs/architecture/ir.md. The functions of ir/state.h check the types and find
// pairs by their names.
struct GraphState {
  Value* input = nullptr;  // the past: an input of the graph
  int output = 0;          // the present: index of a graph output
  int axis = -1;           // the axis along which the present is longer than the past; -1 means equal dims
};

class Graph {
 public:
  explicit Graph(std::string graph_name = "main", Graph* parent_graph = nullptr);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  Graph* parent;  // the enclosing graph; null for a model
  std::vector<std::pair<std::string, std::string>> metadata;

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::list<std::unique_ptr<Value>>& values() const { return values_; }
  // Returns the constants that a caller may replace by feeding them as inputs.
  const std::vector<Value*>& overridable() const { return overridable_; }
  // Only a model's top-level graph has states.
  const std::vector<GraphState>& states() const { return states_; }

  Value* AddInput(std::string value_name, Type type);
  Value* AddConstant(Tensor tensor, std::string value_name = "");
  void MarkOverridable(Value* constant) { overridable_.push_back(constant); }
  void FixOverridable() { overridable_.clear(); }  // overridable constants become plain constants
  // VerifyGraph checks the states. A state refers to its output by index, so SetOutputs, ReplaceOutput and
  // ReplaceUses do not change the state.
  void AddState(const GraphState& state) { states_.push_back(state); }
  void ClearStates() { states_.clear(); }
  void SetOutputs(std::vector<Value*> outputs);
  void ReplaceOutput(int i, Value* value);
  // Adds a node at the end, or before the node `before`. The outputs of the new node are new values without
  // types.
  Node* AddNode(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs,
                Node* before = nullptr);
  // Returns the node right before `node`, or null if `node` is the first.
  const Node* Before(const Node& node) const;
  Graph* AddSubgraph(Node* node, std::string graph_name);
  // Removes a node and its output values, which must be unused.
  void RemoveNode(Node* node);
  // Replaces `from` by `to` in all nodes that read it, also in nested graphs, and in graph outputs.
  void ReplaceUses(Value* from, Value* to);
  // Converts a constant to an input. Used when a caller feeds an overridable constant.
  void ConstantToInput(Value* value);
  void InputToConstant(Value* value, Tensor tensor);  // also removes a state whose past is `value`
  // Removes constants that are unused and not overridable.
  void RemoveUnusedConstants();
  // Removes nodes whose outputs are all unused, until there are no more such nodes. Returns the number of
  // removed nodes.
  int RemoveDeadNodes();
  // Sorts the nodes in a stable topological order (Kahn). If the nodes contain a cycle, the error names a
  // node that is part of the cycle or depends on it.
  Status SortNodes();

  // Returns all values of enclosing graphs that this graph or its nested graphs read, in order of first use.
  std::vector<Value*> Captures() const;
  std::unique_ptr<Graph> Clone() const;  // must be a top-level graph; the copy shares the bytes of constants
  int NodeCount() const;                 // including nested graphs

 private:
  friend class Node;
  Value* NewValue(std::string value_name);
  void ReplaceOutputsBelow(Value* from, Value* to);
  void DropAllUses();
  std::vector<Value*> inputs_, outputs_, overridable_;
  std::vector<GraphState> states_;
  std::list<std::unique_ptr<Value>> values_;
  std::list<std::unique_ptr<Node>> nodes_;
};

// InlineGraph copies the nodes of `body` into the graph of `before`, in front of `before`. `inputs` replace
// the inputs of `body`. Types are copied, not inferred. Returns the copied nodes and constants, and the
// values that correspond to the outputs of `body`.
struct InlinedGraph {
  std::vector<Node*> nodes;
  std::vector<Value*> constants, outputs;
};
InlinedGraph InlineGraph(const Graph& body, const std::vector<Value*>& inputs, Node* before);

// Infers the types and contents of the outputs of one node, or of all nodes in order. Errors name the node,
// its origin and input types.
Status InferNode(Node& node);
Status InferGraph(Graph& graph);

}  // namespace tern
