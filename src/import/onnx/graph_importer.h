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

// What all graphs of a model share.
struct ModelContext {
  std::shared_ptr<pb::ModelProto> model;
  TensorSource source;
  std::map<std::string, int> opsets;                          // domain → version
  std::map<std::string, const pb::FunctionProto*> functions;  // "domain:name:overload"
  int64_t nodes_left = 1000000;  // functions that call functions twice each could make any number of nodes
};

std::string CleanDomain(const std::string& domain);  // "ai.onnx" and "" are one
std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload);

// Node order in which every name is made before it is read; names from outside need no maker. Error on a
// cycle.
Result<std::vector<const pb::NodeProto*>> OrderNodes(
    const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);

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
  // Attributes of the function call being inlined, for ref_attr_name.
  const pb::AttributeProto* CallAttribute(const std::string& name) const;

 private:
  friend class OnnxNode;
  Status AddInitializers(const pb::GraphProto& proto, const std::set<std::string>& inputs);
  Status AddInputs(const pb::GraphProto& proto);
  Status AddNodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes,
                  const std::map<std::string, int>& opsets);
  Status ConvertNode(const pb::NodeProto& node, const std::map<std::string, int>& opsets, int index);
  Status InlineFunction(const pb::NodeProto& call, const pb::FunctionProto& function, int index);
  Status CheckOutputsAreNew(const pb::NodeProto& node) const;
  Result<int> OpsetOf(const std::map<std::string, int>& opsets, const std::string& domain) const;
  Status RefineOutputs(const pb::NodeProto& node);
  Status SetOutputs(const pb::GraphProto& proto);

  ModelContext& model_;
  Graph& graph_;
  GraphImporter* outer_;
  std::map<std::string, Value*> names_;
  std::map<std::string, Type> declared_;  // value_info
  const std::map<std::string, const pb::AttributeProto*>* call_attributes_ = nullptr;
  const std::map<std::string, int>* body_opsets_ = nullptr;
  int depth_;  // graphs and function calls around this one
  std::vector<Type> given_;
};

}  // namespace tern::onnx
