// Converts the nodes of one graph or function that are needed for given tensors.
#pragma once
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/tensorflow/converter.h"
#include "import/tensorflow/model_context.h"

namespace tern::tensorflow {

class BodyImporter {
 public:
  // Adds nodes to `graph`. `prefix` precedes the names of the nodes. `outer` is the importer of the enclosing
  // scope of the same body (a loop or a branch of TF1), or null.
  BodyImporter(ModelContext& model, const Body& body, Graph& graph, std::string prefix, int depth,
               BodyImporter* outer = nullptr);

  // Returns a tensor by its name. Converts its node and all nodes that it needs.
  Result<Edge> Get(const std::string& tensor);
  // Converts a node and everything that it depends on, also through control edges. This runs the
  // initialisation of a model, whose nodes fill variables and tables.
  Status Run(const std::string& node);
  void Bind(const std::string& node, int output, Edge edge);

  // Inlines a call of a function and returns its results. `graph` receives the nodes.
  Result<std::vector<Edge>> Call(const std::string& function, const std::vector<Edge>& args, Graph& graph,
                                 const std::string& label, const pb::NodeDef* call = nullptr);
  // Returns the value of a variable, which is a constant of the model's graph.
  Result<Value*> ReadVariable(Resource& variable);

  Status Initialise();  // fills the tables of the model

  ModelContext& model() { return model_; }
  const Body& body() const { return body_; }
  Graph& graph() { return graph_; }
  const std::string& prefix() const { return prefix_; }
  int depth() const { return depth_; }
  BodyImporter* outer() { return outer_; }
  // Returns an attribute of the call that is being inlined, or null. Nodes of the function may refer to such
  // attributes.
  const pb::AttrValue* CallAttribute(const std::string& name) const;
  // Call it in a branch of a TF1 condition. A Switch with this predicate then returns its input.
  void Assume(std::string predicate) { assumed_.insert(std::move(predicate)); }
  bool Assumes(const std::string& predicate) const {
    return assumed_.count(predicate) > 0 || (outer_ && outer_->Assumes(predicate));
  }
  bool follows_control() const { return control_; }
  // Returns whether the node has been converted in this scope or an outer one.
  bool Done(const std::string& node) const;

 private:
  struct Visit;
  Status Convert(const std::string& node);
  Result<std::vector<std::string>> Dependencies(const pb::NodeDef& node);
  Status ConvertNode(const pb::NodeDef& node);
  Result<std::vector<Edge*>> InputsOf(const pb::NodeDef& node);
  Result<Edge*> Find(const std::string& tensor);
  Status Restore();
  Status CallFunction(TfNode& n, const pb::NodeDef& node);

  ModelContext& model_;
  const Body& body_;
  Graph& graph_;
  std::string prefix_;
  int depth_;
  BodyImporter* outer_;
  const pb::NodeDef* call_ = nullptr;
  BodyImporter* caller_ = nullptr;
  bool control_ = false;  // follow control edges
  std::map<std::string, std::vector<Edge>, std::less<>> edges_;
  std::set<std::string> assumed_;
  std::deque<Edge> copies_;  // copies of edges of outer scopes
};

}  // namespace tern::tensorflow
