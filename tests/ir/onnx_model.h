// Builds ONNX models for tests of the importer.
#pragma once
#include "import/onnx/importer.h"
#include "ir/evaluate.h"
#include "onnx.pb.h"

namespace tern {
namespace pb = tern_onnx;
using Names = std::vector<std::string>;

inline pb::NodeProto* AddNode(google::protobuf::RepeatedPtrField<pb::NodeProto>* nodes, const char* op,
                              const Names& inputs, const Names& outputs) {
  auto* node = nodes->Add();
  node->set_op_type(op);
  for (const auto& in : inputs) node->add_input(in);
  for (const auto& out : outputs) node->add_output(out);
  return node;
}

inline void Describe(pb::ValueInfoProto* info, const char* name, DType dtype = DType::kF32, int rank = 1) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(dtype == DType::kF32 ? 1 : dtype == DType::kI64 ? 7 : 9);
  tensor->mutable_shape();
  for (int i = 0; i < rank; ++i) tensor->mutable_shape()->add_dim()->set_dim_value(2);
}

inline pb::AttributeProto* AddAttr(pb::NodeProto* node, const char* name,
                                   pb::AttributeProto::AttributeType type) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(type);
  return a;
}

// A model with one input x and one output y, which are f32[2].
struct Model {
  pb::ModelProto proto;
  explicit Model(int opset = 18) {
    proto.set_ir_version(8);
    if (opset) proto.add_opset_import()->set_version(opset);
    Describe(proto.mutable_graph()->add_input(), "x");
    Describe(proto.mutable_graph()->add_output(), "y");
  }
  pb::NodeProto* Add(const char* op, const Names& inputs, const Names& outputs) {
    return AddNode(proto.mutable_graph()->mutable_node(), op, inputs, outputs);
  }
  pb::FunctionProto* Function(const char* name, const Names& inputs) {
    auto* f = proto.add_functions();
    f->set_domain("local");
    f->set_name(name);
    for (const auto& in : inputs) f->add_input(in);
    f->add_output("b");
    return f;
  }
  Result<std::unique_ptr<Graph>> Import() const {
    const std::string bytes = proto.SerializeAsString();
    return onnx::ImportBytes(bytes.data(), bytes.size());
  }
  pb::TensorProto* Weight(const char* name, const std::vector<int64_t>& dims,
                          const std::vector<float>& values) {
    auto* w = proto.mutable_graph()->add_initializer();
    w->set_name(name);
    w->set_data_type(1);
    for (int64_t d : dims) w->add_dims(d);
    for (float v : values) w->add_float_data(v);
    return w;
  }
  // Imports the model. Returns the error, such as "invalid model: …", or "no error".
  std::string Error() const {
    auto graph = Import();
    return graph.ok() ? "no error" : StrCat(CodeName(graph.status().code()), ": ", graph.status().message());
  }
};

#define EXPECT_ERROR(model, code, part)                                                     \
  do {                                                                                      \
    const std::string error = (model).Error();                                              \
    EXPECT_TRUE(StartsWith(error, code) && error.find(part) != std::string::npos) << error; \
  } while (0)

}  // namespace tern
