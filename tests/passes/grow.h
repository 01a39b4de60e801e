// Adds random valid nodes to a graph. Each new node is run on sample data, and is removed if a result is huge
// or NaN.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "core/datum.h"
#include "ir/builder.h"
#include "random.h"

namespace tern {

class Grower {
 public:
  // `inputs` is sample data for the graph's inputs.
  Grower(Graph& graph, Random& random, const DatumList& inputs);

  void Grow(int steps);
  // Returns results of nodes that no node reads. They may become outputs of the graph.
  std::vector<Value*> Leaves() const;

  // Op adds a node and returns its output. Returns null if the node is not valid or an input is null. Ops
  // adds a node with several outputs.
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  std::vector<Value*> Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                          int outputs);
  Value* Unary(const char* kind, Value* x) { return Op("Unary", {x}, {{"kind", std::string(kind)}}); }
  Value* Binary(const char* kind, Value* a, Value* b) {
    return Op("Binary", {a, b}, {{"kind", std::string(kind)}});
  }
  Value* Const(const Tensor& tensor);
  Value* Scalar(double v, DType dtype = DType::kF32);
  Value* Ints(const std::vector<int64_t>& values) { return Const(Tensor::Ints(values)); }
  Value* Weights(const Dims& dims, double low = -1, double high = 1);
  // Open adds a node with nested graphs. The caller fills these graphs and then calls Close, which runs the
  // node on sample data.
  Node* Open(const char* op, const std::vector<Value*>& inputs, int outputs);
  Value* Close(Node* node);

  // Returns a random f32 value of the graph with a rank from low to high, or null if there is none. Values
  // that were added later are more probable.
  Value* Float(int low = 0, int high = 5);
  // Like Float, but returns only values that are computed without rounding. Discontinuous ops (comparisons,
  // quantization) must read such values, because the smallest error can change their results completely.
  Value* Exact(int low = 0, int high = 5);
  // Returns a value that broadcasts against x: a number, a vector, a value of the same type, or x itself.
  Value* Operand(Value* x);
  int64_t SizeOf(const Value* v, int axis) const;  // -1 if the size is unknown
  double Least(const Value* v) const;
  double Greatest(const Value* v) const;

  Random& random() { return random_; }
  Graph& graph() { return graph_; }

 private:
  bool Sample(Node& node);
  bool IsExact(const Node& node) const;

  Graph& graph_;
  Random& random_;
  DatumList inputs_;
  std::vector<Value*> pool_;
  std::unordered_map<const Value*, Tensor> samples_;
  std::unordered_set<const Value*> exact_;
};

}  // namespace tern
