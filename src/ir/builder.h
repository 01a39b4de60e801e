// Puts nodes into a graph one call at a time; types are inferred as it goes, so `value->type` can be asked at
// once.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

using AttrList = std::vector<std::pair<std::string, AttrValue>>;

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  // Names for the nodes made from here on.
  void At(std::string node_name, std::string origin);

  Value* Const(Tensor tensor, std::string name = "") {
    return graph_.AddConstant(std::move(tensor), std::move(name));
  }
  Value* Ints(const std::vector<int64_t>& values) { return Const(Tensor::Ints(values)); }
  Value* Scalar(DType dtype, double v) { return Const(Tensor::Scalar(dtype, v)); }

  // One output. The first error stays in status(); after it, calls still return a value (without a type).
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  std::vector<Value*> Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                          int outputs);
  // A node whose subgraphs are to be filled by the caller, who then calls Finish to infer its types.
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
