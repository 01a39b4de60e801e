// Adds nodes to a graph. Each call infers the types of the new values, so that `value->type` is valid when
// the call returns.
#pragma once
#include <string>
#include <vector>

#include "ir/attr_list.h"
#include "ir/graph.h"

namespace tern {

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  // Sets the name and origin of the following nodes.
  void At(std::string node_name, std::string origin);

  Value* Const(Tensor tensor, std::string_view name = "");
  Value* Ints(const std::vector<int64_t>& values);
  Value* Scalar(DType dtype, double v);

  // Adds a node with one output and returns the output. The first error is stored in status(). Later calls
  // still add nodes, but do not infer their types.
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  Value* Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs = {});
  std::vector<Value*> Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                          int outputs);
  // Adds a node whose subgraphs the caller adds. The caller then calls Finish, which infers the types of the
  // node.
  Node* Open(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs, int outputs);
  void Finish(Node* node);

  const Status& status() const { return status_; }
  void Fail(Status status);

 private:
  Graph& graph_;
  std::string name_, origin_;
  Status status_;
};

}  // namespace tern
