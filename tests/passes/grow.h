// Grows a graph by random valid nodes: each new node runs on sample data and is removed if its results are
// huge or NaN.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "core/datum.h"
#include "ir/builder.h"
#include "random.h"

namespace tern {

class Grower {
 public:
  // inputs: sample data, one per graph input.
  Grower(Graph& graph, Random& random, const DatumList& inputs);

  void Grow(int steps);
  // Candidates for outputs: values of nodes without readers.
  std::vector<Value*> Leaves() const;

  // Adds a node; null if it is not valid or an input is null. Variants return several outputs.
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
  // A node with nested graphs that the caller fills before Close; Close samples it.
  Node* Open(const char* op, const std::vector<Value*>& inputs, int outputs);
  Value* Close(Node* node);

  // A random f32 value with a rank in the range; null if there is none. Later values are more probable.
  Value* Float(int low = 0, int high = 5);
  // A value that is exact, so that discontinuous ops (comparisons, quantization) may follow.
  Value* Exact(int low = 0, int high = 5);
  // Something that broadcasts against x: a number, a vector, a value of the same type, x itself.
  Value* Operand(Value* x);
  int64_t SizeOf(const Value* v, int axis) const;  // -1: not a known number
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
