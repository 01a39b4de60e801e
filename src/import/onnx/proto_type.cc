#include "import/onnx/proto_tensor.h"

namespace tern::onnx {
namespace {

Dim DimFromOnnx(const pb::TensorShapeProto::Dimension& d) {
  if (d.has_dim_value()) return d.dim_value() < 0 ? Dim::Unknown() : Dim(d.dim_value());
  if (!d.has_dim_param() || d.dim_param().empty()) return Dim::Unknown();
  // Exporters write any text here. What does not read as an expression becomes a symbol of its own.
  auto parsed = Dim::Parse(d.dim_param());
  if (parsed.ok() && !parsed->unknown() && !parsed->known()) return *parsed;
  std::string name;
  for (char c : d.dim_param()) name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '_';
  if (std::isdigit(static_cast<unsigned char>(name[0]))) name = "d" + name;
  return Dim::Symbol(name);
}

Shape ShapeFromOnnx(const pb::TensorShapeProto& p) {
  std::vector<Dim> dims;
  for (const auto& d : p.dim()) dims.push_back(DimFromOnnx(d));
  return Shape(std::move(dims));
}

DType DTypeOrInvalid(int number) {
  auto t = DTypeFromOnnx(number);
  return t.ok() ? *t : DType::kInvalid;
}

void ShapeToOnnx(const Shape& shape, pb::TensorShapeProto& p) {
  for (const Dim& d : shape.dims) {
    auto* out = p.add_dim();
    if (d.known())
      out->set_dim_value(d.value());
    else if (d.symbolic())
      out->set_dim_param(d.ToString());
  }
}

}  // namespace

Type TypeFromOnnx(const pb::TypeProto& p) {
  if (p.has_tensor_type()) {
    const auto& t = p.tensor_type();
    return Type::TensorOf(DTypeOrInvalid(t.elem_type()), t.has_shape() ? ShapeFromOnnx(t.shape()) : Shape());
  }
  if (p.has_sparse_tensor_type()) {
    const auto& t = p.sparse_tensor_type();
    return Type::TensorOf(DTypeOrInvalid(t.elem_type()), t.has_shape() ? ShapeFromOnnx(t.shape()) : Shape());
  }
  if (p.has_sequence_type()) return Type::SequenceOf(TypeFromOnnx(p.sequence_type().elem_type()));
  if (p.has_optional_type()) return Type::OptionalOf(TypeFromOnnx(p.optional_type().elem_type()));
  if (p.has_map_type())
    return Type::MapOf(DTypeOrInvalid(p.map_type().key_type()), TypeFromOnnx(p.map_type().value_type()));
  return {};
}

void TypeToOnnx(const Type& type, pb::TypeProto& p) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      p.mutable_tensor_type()->set_elem_type(DTypeToOnnx(type.dtype));
      if (type.shape.ranked) ShapeToOnnx(type.shape, *p.mutable_tensor_type()->mutable_shape());
      return;
    case Type::Kind::kSequence:
      return TypeToOnnx(*type.element, *p.mutable_sequence_type()->mutable_elem_type());
    case Type::Kind::kOptional:
      return TypeToOnnx(*type.element, *p.mutable_optional_type()->mutable_elem_type());
    case Type::Kind::kMap:
      p.mutable_map_type()->set_key_type(DTypeToOnnx(type.dtype));
      return TypeToOnnx(*type.element, *p.mutable_map_type()->mutable_value_type());
    case Type::Kind::kUnknown:
      return;
  }
}

}  // namespace tern::onnx
