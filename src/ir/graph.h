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
  std::vector<std::pair<Node*, int>> uses;  // reading nodes, also nested ones, with the input index
  int output_uses = 0;                      // how often it is an output of its graph or of nested graphs

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
  std::string rule;    // the rewrite rule that created it, if any; not stored in files
  Graph* graph = nullptr;

  const std::vector<Value*>& inputs() const { return inputs_; }  // null: an absent optional input
  const std::vector<Value*>& outputs() const { return outputs_; }
  Value* input(int i) const {
    return i < static_cast<int>(inputs_.size()) ? inputs_[static_cast<size_t>(i)] : nullptr;
  }
  Value* output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  void SetInput(int i, Value* value);  // appends absent inputs as needed
  bool unused() const;                 // no output is read
  const std::vector<std::unique_ptr<Graph>>& subgraphs() const { return subgraphs_; }

  // "node 'a/b' (Conv, onnx node #3)", for messages.
  std::string Describe() const;

 private:
  friend class Graph;
  std::vector<Value*> inputs_, outputs_;
  std::vector<std::unique_ptr<Graph>> subgraphs_;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

// A value that lives between runs. Each run reads as `input` what the previous run wrote to output number
// `output`, such as the keys and values of attention (past and present) or the hidden state of a recurrent
// network. See docs/architecture/ir.md. ir/state.h checks the types and finds pairs by their names.
struct GraphState {
  Value* input = nullptr;  // the past: an input of the graph
  int output = 0;          // the present: index of a graph output
  int axis = -1;           // the axis along which the present is longer than the past; -1: same dims
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
  // Constants that a caller may replace by feeding them as inputs.
  const std::vector<Value*>& overridable() const { return overridable_; }
  // Only a model's top-level graph has states.
  const std::vector<GraphState>& states() const { return states_; }

  Value* AddInput(std::string value_name, Type type);
  Value* AddConstant(Tensor tensor, std::string value_name = "");
  void MarkOverridable(Value* constant) { overridable_.push_back(constant); }
  void FixOverridable() { overridable_.clear(); }  // they become plain constants
  // The verifier checks states. A state refers to an output index: SetOutputs, ReplaceOutput and ReplaceUses
  // do not change it.
  void AddState(const GraphState& state) { states_.push_back(state); }
  void ClearStates() { states_.clear(); }
  void SetOutputs(std::vector<Value*> outputs);
  void ReplaceOutput(int i, Value* value);
  // Appends, or inserts before `before`. Outputs get new values without types.
  Node* AddNode(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs,
                Node* before = nullptr);
  // The node right before this one; null for the first.
  const Node* Before(const Node& node) const;
  Graph* AddSubgraph(Node* node, std::string graph_name);
  // The outputs must be unused; their values are removed too.
  void RemoveNode(Node* node);
  // Replaces `from` by `to` in all readers, also nested ones, and in graph outputs.
  void ReplaceUses(Value* from, Value* to);
  // Turns a constant into an input (an overridable constant that is fed).
  void ConstantToInput(Value* value);
  void InputToConstant(Value* value, Tensor tensor);  // removes the state whose past it is
  // Removes constants and values without readers.
  void RemoveUnusedConstants();
  // Removes nodes whose outputs are unused, until none is left. Returns how many.
  int RemoveDeadNodes();
  // Sorts the nodes in a stable topological order (Kahn). If they form a cycle, the error names one of them.
  Status SortNodes();

  // All values of enclosing graphs that this graph or its nested graphs read, in order of first use.
  std::vector<Value*> Captures() const;
  std::unique_ptr<Graph> Clone() const;  // top-level graphs only; constants share their bytes
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

// InlineGraph copies a nested graph into an enclosing one, before the node `before`, with `inputs` as its
// inputs. Types are copied, not inferred. It returns the copied nodes and constants, and the outputs.
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
