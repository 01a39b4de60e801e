// Turns one ONNX graph (or function body) into Tern nodes.
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

// Functions that call functions twice each could make any number of nodes.
inline constexpr int64_t kMaxNodes = 1000000;
inline constexpr int kMaxDepth = 140;  // graphs and function calls inside each other

// How much of the shapes that a file declares is believed.
enum class Trust {
  kAll,
  kNoNames,     // named dims are taken as unknown
  kInputsOnly,  // and what value_info, outputs and bodies declare is taken for its rank alone
};

// What of them was in use when an import failed, and whether that can be the reason.
struct Claims {
  bool names = false;          // dims with names
  bool numbers = false;        // sizes that only a declaration gave
  bool failed = false;         // some node could not be converted …
  bool contradiction = false;  // … which it could be if no dim were known
};

// What all graphs of a model share.
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

std::string CleanDomain(const std::string& domain);  // "ai.onnx" and "" are one
std::string NodeLabel(const pb::NodeProto& node);    // its name, or what it makes when it has none
std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload);

// Node order in which every name is made before it is read; names from outside need no maker. Error on a
// cycle.
Result<std::vector<const pb::NodeProto*>> OrderNodes(
    const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);

// Consumes the message: large tensors take their bytes out of it, and only what it declares stays.
// attempts: how often the model was walked, for tests. raw: bytes that the message lacks; null: none.
Result<std::unique_ptr<Graph>> ImportModel(std::shared_ptr<pb::ModelProto> model, const std::string& folder,
                                           int* attempts = nullptr, std::shared_ptr<RawBytes> raw = nullptr);

class GraphImporter {
 public:
  GraphImporter(ModelContext& model, Graph& graph, GraphImporter* outer)
      : model_(model), graph_(graph), outer_(outer), depth_(outer ? outer->depth_ + 1 : 0) {}

  Status Import(const pb::GraphProto& proto);
  void GiveInputTypes(const std::vector<Type>& types);

  // A nested graph's nodes put into this one, its inputs bound to the given values.
  Result<std::vector<Value*>> InlineGraph(const pb::GraphProto& proto, const std::vector<Value*>& inputs);

  // Through enclosing graphs. Null when there is none, or for a parameter that a function's caller left out.
  Value* Find(const std::string& name) const;
  bool Knows(const std::string& name) const;  // true for a parameter left out, too
  void Bind(const std::string& name, Value* value);
  ModelContext& model() { return model_; }
  // A type as the file declares it, as far as the model's declarations are believed. surely: it is the
  // definition of a graph input, not a claim about a value that nodes make.
  Type Declared(const pb::TypeProto& proto, bool surely = false);
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
  int depth_;  // graphs and function calls around this one
  std::vector<Type> given_;
};

}  // namespace tern::onnx
