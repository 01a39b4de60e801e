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

// Limits the nodes after inlining: a chain of functions that each call the next one twice doubles them per
// level.
inline constexpr int64_t kMaxNodes = 1000000;
inline constexpr int kMaxDepth = 140;  // of nested graphs and function calls

// How far the import trusts the shapes that a file declares.
enum class Trust {
  kAll,
  kNoNames,     // named dims count as unknown
  kInputsOnly,  // also, value_info, outputs and bodies count only for their ranks
};

// Which declarations a failed import used, and whether they can be the reason.
struct Claims {
  bool names = false;          // dims with names
  bool numbers = false;        // sizes that only a declaration gave
  bool failed = false;         // a node could not be converted
  bool contradiction = false;  // the failed node converts when all dims are unknown
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
};

std::string CleanDomain(const std::string& domain);  // maps "ai.onnx" to ""
std::string NodeLabel(const pb::NodeProto& node);    // its name, or its first output when it has none
std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload);

// Sorts nodes so that each name is produced before it is read. Names from outside need no producer. Fails on
// a cycle.
Result<std::vector<const pb::NodeProto*>> OrderNodes(
    const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);

// Consumes the message: large tensors move their bytes out of it. attempts: receives the number of import
// attempts, for tests. raw: tensor data that is not in the message; null for none.
Result<std::unique_ptr<Graph>> ImportModel(std::shared_ptr<pb::ModelProto> model, const std::string& folder,
                                           int* attempts = nullptr, std::shared_ptr<RawBytes> raw = nullptr);

class GraphImporter {
 public:
  GraphImporter(ModelContext& model, Graph& graph, GraphImporter* outer)
      : model_(model), graph_(graph), outer_(outer), depth_(outer ? outer->depth_ + 1 : 0) {}

  Status Import(const pb::GraphProto& proto);
  void GiveInputTypes(const std::vector<Type>& types);

  // Inlines a nested graph's nodes into this graph with its inputs bound to the given values; returns its
  // outputs.
  Result<std::vector<Value*>> InlineGraph(const pb::GraphProto& proto, const std::vector<Value*>& inputs);

  // Searches enclosing graphs too. Null for an unknown name, and for a parameter that a function's caller
  // omitted.
  Value* Find(const std::string& name) const;
  bool Knows(const std::string& name) const;  // true for an omitted parameter, too
  void Bind(const std::string& name, Value* value);
  ModelContext& model() { return model_; }
  // Returns a declared type, reduced to what the import trusts. is_input: the type defines a graph input,
  // rather than describing a value that nodes produce.
  Type Declared(const pb::TypeProto& proto, bool is_input = false);
  // Attributes of the function call being inlined, for ref_attr_name.
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
  std::map<std::string, Type> declared_;             // value_info
  const std::map<std::string, const pb::AttributeProto*>* call_attributes_ = nullptr;
  const std::map<std::string, int>* body_opsets_ = nullptr;
  int depth_;  // number of enclosing graphs and function calls
  std::vector<Type> given_;
};

}  // namespace tern::onnx
