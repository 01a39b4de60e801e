// The one IR: SSA values, nodes in topological order, nested graphs for control flow.
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

// A value that a node makes, a constant, or a graph input. Owned by its graph; nested graphs may read it.
struct Value {
  std::string name;
  Type type;
  std::optional<Content> content;  // symbolic elements of a small integer tensor, found by inference
  Tensor constant;                 // defined for constants
  Node* producer = nullptr;
  int output = 0;  // which of the producer's outputs
  Graph* graph = nullptr;
  bool is_input = false;
  std::vector<std::pair<Node*, int>> uses;  // reading nodes, nested ones too, with the input's number
  int output_uses = 0;                      // how often it is an output of its graph or of graphs inside

  bool is_constant() const { return constant.defined(); }
  bool unused() const { return uses.empty() && output_uses == 0; }

 private:
  friend class Graph;
  std::list<std::unique_ptr<Value>>::iterator place_;
};

class Node {
 public:
  const OpDef* op = nullptr;
  Attrs attrs;
  std::string name;    // unique is not promised; may be empty
  std::string origin;  // where it came from: "MatMul, onnx node #142"
  std::string rule;    // the rewrite rule that made it, if one did; not kept in files
  Graph* graph = nullptr;

  const std::vector<Value*>& inputs() const { return inputs_; }  // null: an optional input that is absent
  const std::vector<Value*>& outputs() const { return outputs_; }
  Value* input(int i) const {
    return i < static_cast<int>(inputs_.size()) ? inputs_[static_cast<size_t>(i)] : nullptr;
  }
  Value* output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  void SetInput(int i, Value* value);  // extends with absent inputs as needed
  bool unused() const;                 // no output is read
  const std::vector<std::unique_ptr<Graph>>& subgraphs() const { return subgraphs_; }

  // "node 'a/b' (Conv, onnx node #3)", for messages.
  std::string Describe() const;

 private:
  friend class Graph;
  std::vector<Value*> inputs_, outputs_;
  std::vector<std::unique_ptr<Graph>> subgraphs_;
  std::list<std::unique_ptr<Node>>::iterator place_;
};

// A value that lives between runs: a run reads as `input` what the run before gave as output number `output`,
// such as the keys and values of attention (past and present) or the hidden state of a recurrent network. See
// docs/architecture/ir.md; ir/state.h checks the types and finds pairs by their names.
struct GraphState {
  Value* input = nullptr;  // the past: an input of the graph
  int output = 0;          // the present: the number of one of the graph's outputs
  int axis = -1;           // along which the present is longer than the past; -1: they have the same dims
};

class Graph {
 public:
  explicit Graph(std::string graph_name = "main", Graph* parent_graph = nullptr);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  Graph* parent;  // the graph around this one, null for a model
  std::vector<std::pair<std::string, std::string>> metadata;

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::list<std::unique_ptr<Value>>& values() const { return values_; }
  // Constants that a caller may feed in place of the stored value.
  const std::vector<Value*>& overridable() const { return overridable_; }
  // Of a model's own graph; nested graphs have none.
  const std::vector<GraphState>& states() const { return states_; }

  Value* AddInput(std::string value_name, Type type);
  Value* AddConstant(Tensor tensor, std::string value_name = "");
  void MarkOverridable(Value* constant) { overridable_.push_back(constant); }
  void FixOverridable() { overridable_.clear(); }  // from here on plain constants
  // The verifier checks it. A state stays with its output's number when SetOutputs, ReplaceOutput or
  // ReplaceUses put another value there.
  void AddState(const GraphState& state) { states_.push_back(state); }
  void ClearStates() { states_.clear(); }
  void SetOutputs(std::vector<Value*> outputs);
  void ReplaceOutput(int i, Value* value);
  // Appends, or inserts before `before`. Outputs get fresh values without types.
  Node* AddNode(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs,
                Node* before = nullptr);
  // The node that comes right before this one of the graph; null for the first.
  const Node* Before(const Node& node) const;
  Graph* AddSubgraph(Node* node, std::string graph_name);
  // The outputs must be unused; their values go too.
  void RemoveNode(Node* node);
  // Every reader of `from`, in this graph and below, and graph outputs read `to` instead.
  void ReplaceUses(Value* from, Value* to);
  // A constant becomes an input (an overridable one that is fed).
  void ConstantToInput(Value* value);
  void InputToConstant(Value* value, Tensor tensor);  // ends the state whose past it is
  // Drops constants and values nobody reads.
  void RemoveUnusedConstants();
  // Nodes whose outputs nobody reads; repeats until none is left. Returns how many went.
  int RemoveDeadNodes();
  // Kahn's order, stable. Error when the nodes form a cycle; names a node on it.
  Status SortNodes();

  // Every value of enclosing graphs that this graph or graphs inside it read, in first-use order.
  std::vector<Value*> Captures() const;
  std::unique_ptr<Graph> Clone() const;  // of a top-level graph; constants share bytes
  int NodeCount() const;                 // with nested graphs

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

// Copies of a nested graph's nodes and constants, put into a graph around it before the node `before`; the
// graph's inputs stand for `inputs`. Types are copied too, not inferred.
struct InlinedGraph {
  std::vector<Node*> nodes;
  std::vector<Value*> constants, outputs;
};
InlinedGraph InlineGraph(const Graph& body, const std::vector<Value*>& inputs, Node* before);

// Types and contents of every node's outputs, in order. Errors name the node, its origin and input types.
Status InferNode(Node& node);
Status InferGraph(Graph& graph);

}  // namespace tern
