// Converts one subgraph of a TensorFlow Lite model into Tern nodes.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "import/common/inlined_limit.h"
#include "import/tflite/converter.h"
#include "import/tflite/resources.h"

namespace tern::tflite {

inline constexpr int64_t kMaxParts = 4'000'000;  // operators and tensors, once subgraphs are inlined
inline constexpr int kMaxDepth = 32;             // the deepest nesting of subgraphs

int64_t PartsOf(const Model& model);  // the number of operators and tensors

// The data that all subgraphs of a model share.
struct ModelContext {
  const Model& model;
  Graph& graph;  // the top-level graph
  import::InlinedLimit parts{PartsOf(model), kMaxParts};
  Resources resources;
  std::vector<bool> assigns = {};  // per subgraph: whether it, or one that it calls, assigns variables
};

// What a subgraph's input or output is: a value, or a resource such as a variable.
struct Operand {
  Value* value = nullptr;
  int resource = -1;
};

class GraphImporter {
 public:
  GraphImporter(ModelContext& context, Graph& graph, int subgraph, GraphImporter* outer);

  // Reads the tensors of the subgraph and converts its operators. `inputs` are the inputs of the subgraph.
  Status Import(const std::vector<Operand>& inputs);
  // Reads the descriptions of the tensors. Import calls this function too.
  Status ReadTensors();
  // Returns the outputs of the subgraph, each in the type that the file states.
  Result<std::vector<Operand>> Outputs();

  // Converts another subgraph into the same Tern graph.
  Result<std::vector<Operand>> Inline(int subgraph, const std::vector<Operand>& inputs);
  // Checks the index and the nesting of a subgraph that an operator names.
  Status CheckCall(int subgraph, size_t inputs) const;

  const TensorInfo& info(int tensor) const { return infos_[static_cast<size_t>(tensor)]; }
  const fb::SubGraph& proto() const { return context_.model.subgraph(subgraph_); }
  ModelContext& context() { return context_; }
  Graph& graph() { return graph_; }
  Variables& variables() { return variables_; }
  bool top_level() const { return !outer_; }
  int subgraph() const { return subgraph_; }

  // Makes the value of a tensor that an operator reads, if it is constant. Fails if the tensor has no value.
  Status Require(int tensor);
  Value* Stored(int tensor, Layout layout, Builder& b);
  Value* Real(int tensor, Layout layout, Builder& b);
  Layout LayoutOf(int tensor) const;
  void SetStored(int tensor, Value* value, Layout layout, Builder& b);
  void SetReal(int tensor, Value* value, Layout layout, Builder& b);
  // Emits (v - zero) * scale. `axis` is the axis of `v` along which the scales of `info` vary.
  Value* Dequantize(Value* v, const TensorInfo& info, int axis, Builder& b);

  // Emits the Quantize of real numbers to the type of a tensor. Returns `v` if `info` is not quantized.
  Value* Quantize(Value* v, const TensorInfo& info, Builder& b);

  int ResourceOf(int tensor) const { return slots_[static_cast<size_t>(tensor)].resource; }
  void SetResource(int tensor, int resource) { slots_[static_cast<size_t>(tensor)].resource = resource; }
  Operand OperandOf(int tensor, Builder& b);

  // A variable tensor keeps its value between runs. Reads it as real numbers.
  Result<Value*> ReadVariable(int tensor, Builder& b);
  void WriteVariable(int tensor, Value* real) { slots_[static_cast<size_t>(tensor)].variable = real; }
  // Adds a state per variable tensor to the graph's outputs.
  Status AddVariableStates();

 private:
  struct Slot {
    Value *last = nullptr, *first = nullptr;            // as stored, per layout
    Value *real_last = nullptr, *real_first = nullptr;  // real numbers, per layout
    int resource = -1;
    Value *variable = nullptr, *past = nullptr;  // the present and past of a variable tensor
  };
  Status ConvertNode(const fb::Operator& op, int index);
  Status CheckOutputsAreNew(const LiteNode& node) const;
  Slot& slot(int tensor) { return slots_[static_cast<size_t>(tensor)]; }
  Value* BlockScaled(Value* v, const TensorInfo& info, Builder& b);

  ModelContext& context_;
  Graph& graph_;
  int subgraph_;
  GraphImporter* outer_;
  int depth_;
  std::vector<TensorInfo> infos_;
  std::vector<Slot> slots_;
  std::vector<int> used_variables_;  // variable tensors, in order of first use
  Variables variables_;
};

// Returns the value with permuted dims.
Value* Transposed(Builder& b, Value* v, const std::vector<int64_t>& perm);
inline const std::vector<int64_t> kToFirst = {0, 3, 1, 2}, kToLast = {0, 2, 3, 1};

// Imports the subgraph of a signature, or the first subgraph if the name is empty.
Result<std::unique_ptr<Graph>> ImportModel(const Model& model, const std::string& signature);

}  // namespace tern::tflite
