// Converts one ONNX graph or function body into Tern nodes.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "import/onnx/converter.h"
#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

const ConverterTable& Converters();

// The maximum number of nodes after inlining. Without a limit, a small file could need any amount of memory.
// For example, if each of 40 functions calls the next function twice, the model expands to 2^40 nodes.
inline constexpr int64_t kMaxNodes = 1000000;
inline constexpr int kMaxDepth = 140;  // the deepest nesting of graphs and function calls

// Says which of the shapes that a file declares are used by the import.
enum class Trust {
  kAll,
  kNoNames,     // treats named dims as unknown
  kInputsOnly,  // uses only numbers in the dims of the model's inputs; all other dims are unknown
};

// The kinds of declarations that an import used, and whether they explain its failure.
struct Claims {
  bool names = false;          // the import used dims with names
  bool numbers = false;        // the import used declared sizes that inference did not find
  bool failed = false;         // a node could not be converted
  bool contradiction = false;  // the failed node can be converted when all dims are unknown
};

// The data that all graphs of a model share.
struct ModelContext {
  std::shared_ptr<pb::ModelProto> model;
  TensorSource source;
  DimNames dim_names;
  Trust trust = Trust::kAll;
  Claims claims;
  std::map<std::string, int> opsets;                          // domain → version
  std::map<std::string, const pb::FunctionProto*> functions;  // "domain:name:overload"
  int64_t nodes_left = kMaxNodes;
  std::vector<std::string> warnings;  // output: one sentence for each thing in a node that was ignored
};

std::string CleanDomain(const std::string& domain);  // maps "ai.onnx" to "", returns other domains unchanged
std::string NodeLabel(const pb::NodeProto& node);    // the node's name; if it has none, its first output
std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload);

// Sorts nodes so that each node follows the nodes whose outputs it reads. Names that no node produces, such
// as initializers, are ignored. Fails if the nodes form a cycle.
Result<std::vector<const pb::NodeProto*>> OrderNodes(
    const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);

// Imports a model. Moves the bytes of large tensors out of `model`, so the caller cannot import it again. If
// `attempts` is not null, it receives the number of import attempts, for tests. `raw` contains tensor data
// that SplitRawData removed from the message. It is null if the message is complete. If `warnings` is not
// null, it receives one sentence for each thing in a node that was ignored.
Result<std::unique_ptr<Graph>> ImportModel(std::shared_ptr<pb::ModelProto> model, const std::string& folder,
                                           int* attempts = nullptr, std::shared_ptr<RawBytes> raw = nullptr,
                                           std::vector<std::string>* warnings = nullptr);

class GraphImporter {
 public:
  GraphImporter(ModelContext& model, Graph& graph, GraphImporter* outer)
      : model_(model), graph_(graph), outer_(outer), depth_(outer ? outer->depth_ + 1 : 0) {}

  Status Import(const pb::GraphProto& proto);
  // Sets the types of the graph's inputs. Call it before Import, for a body that does not declare them.
  void GiveInputTypes(const std::vector<Type>& types);

  // Adds the nodes of a nested graph to this graph and returns the nested graph's outputs. `inputs` replace
  // the nested graph's inputs.
  Result<std::vector<Value*>> InlineGraph(const pb::GraphProto& proto, const std::vector<Value*>& inputs);

  // Returns the value of a name in this graph or an enclosing graph. Returns null for an unknown name, and
  // for a function's parameter that the call omits.
  Value* Find(const std::string& name) const;
  // Returns whether the name is known in this graph or an enclosing graph. A function's parameter that the
  // call omits is known too.
  bool Knows(const std::string& name) const;
  void Bind(const std::string& name, Value* value);
  ModelContext& model() { return model_; }
  // Returns a declared type. Dims that model().trust excludes are unknown. `is_input` is true for an input of
  // the model.
  Type Declared(const pb::TypeProto& proto, bool is_input = false);
  // Returns an attribute of the function call that is being inlined, or null. Nodes of the function refer to
  // it by ref_attr_name.
  const pb::AttributeProto* CallAttribute(const std::string& name) const;

 private:
  friend class OnnxNode;
  Status AddInitializer(const std::string& name, const std::string& place, Tensor tensor, bool overridable);
  Status AddInitializers(const pb::GraphProto& proto, const std::set<std::string>& inputs);
  Status AddInputs(const pb::GraphProto& proto);
  Status AddNodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes,
                  const std::map<std::string, int>& opsets);
  Status ConvertNode(const pb::NodeProto& node, const std::map<std::string, int>& opsets, int index);
  Status RunConverter(const Converter& converter, const pb::NodeProto& node, int opset, int index);
  void Diagnose(const Converter& converter, const pb::NodeProto& node, int opset, int index);
  Status InlineFunction(const pb::NodeProto& call, const pb::FunctionProto& function, int index);
  Status CheckOutputsAreNew(const pb::NodeProto& node) const;
  Result<int> OpsetOf(const std::map<std::string, int>& opsets, const std::string& domain) const;
  Status RefineOutputs(const pb::NodeProto& node);
  Status SetOutputs(const pb::GraphProto& proto);

  ModelContext& model_;
  Graph& graph_;
  GraphImporter* outer_;
  std::map<std::string, Value*> names_;
  std::map<std::string, std::string> initializers_;  // name → "initializer #3"
  std::map<std::string, Type> declared_;             // name → type in value_info or in the graph's outputs
  const std::map<std::string, const pb::AttributeProto*>* call_attributes_ = nullptr;
  const std::map<std::string, int>* body_opsets_ = nullptr;
  int depth_;  // number of enclosing graphs and function calls
  std::vector<Type> given_;
};

}  // namespace tern::onnx
