#include "ir/builder.h"

namespace tern {

void Builder::At(std::string node_name, std::string origin) {
  name_ = std::move(node_name);
  origin_ = std::move(origin);
}

Value* Builder::Const(Tensor tensor, std::string_view name) {
  return graph_.AddConstant(std::move(tensor), std::string(name));
}
Value* Builder::Ints(const std::vector<int64_t>& values) { return Const(Tensor::Ints(values)); }
Value* Builder::Scalar(DType dtype, double v) {
  if (IsNumeric(dtype) || dtype == DType::kBool) return Const(Tensor::Scalar(dtype, v));
  // If an earlier error left the type unknown, status() keeps that error.
  Fail(Unsupported("a number of type ", DTypeName(dtype), " is needed"));
  return Const(Tensor::Scalar(DType::kF32, v));
}

void Builder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Node* Builder::Open(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs, int outputs) {
  const OpDef* def = FindOp(op);
  TERN_CHECK(def, "no op named ", op);
  Node* node = graph_.AddNode(*def, def->defaults, inputs, outputs);
  node->name = name_;
  node->origin = origin_;
  for (const auto& [name, value] : attrs) {
    Status status = node->attrs.Set(name, value);
    if (!status.ok()) Fail(InvalidModel(node->Describe(), ": ", status.message()));
  }
  return node;
}

void Builder::Finish(Node* node) {
  if (status_.ok()) Fail(InferNode(*node));
}

std::vector<Value*> Builder::Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                                 int outputs) {
  Node* node = Open(op, inputs, attrs, outputs);
  Finish(node);
  return node->outputs();
}

Value* Builder::Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs) {
  return Ops(op, inputs, attrs, 1)[0];
}

Value* Builder::Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs) {
  return Op(op, std::vector<Value*>(inputs), attrs);
}

}  // namespace tern
