// Adds nodes to a graph one call at a time. Types are inferred at once, so that `value->type` is valid after
// each call.
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

  // A node with one output. The first error is stored in status(); later calls still return a value, without
  // a type.
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  Value* Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs = {});
  std::vector<Value*> Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                          int outputs);
  // A node whose subgraphs the caller fills; the caller then calls Finish to infer its types.
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
