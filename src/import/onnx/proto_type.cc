#include "import/onnx/proto_tensor.h"

namespace tern::onnx {
namespace {

// A dim_param may be any text, such as "batch", "batch-size" or "s0//2". "?" is an unknown size. The text is
// an expression if it parses as one and `names` contains each of its symbols. For example, "s0//2" is a
// division if an input has the dim "s0". "batch-size" is a difference if inputs have the dims "batch" and
// "size". Any other text is the name of a symbol.
Dim DimFromOnnx(const pb::TensorShapeProto::Dimension& d, const DimNames& names) {
  if (d.has_dim_value()) return d.dim_value() < 0 ? Dim::Unknown() : Dim(d.dim_value());
  const std::string& text = d.dim_param();
  if (text.empty() || text == "?") return Dim::Unknown();
  const auto parsed = Dim::Parse(text);
  if (!parsed.ok() || !parsed->symbolic()) return Dim::Symbol(text);
  std::vector<std::string> symbols;
  parsed->CollectSymbols(symbols);
  for (const std::string& symbol : symbols)
    if (!names.count(symbol)) return Dim::Symbol(text);
  return *parsed;
}

Shape ShapeFromOnnx(const pb::TensorShapeProto& p, const DimNames& names) {
  std::vector<Dim> dims;
  for (const auto& d : p.dim()) dims.push_back(DimFromOnnx(d, names));
  return Shape(std::move(dims));
}

DType DTypeOrInvalid(int number) {
  auto t = DTypeFromOnnx(number);
  return t.ok() ? *t : DType::kInvalid;
}

// Returns the dim_param of a dim. For a symbol it is the symbol's name as it was imported. For an expression
// it is the expression's text, in which names that are not identifiers are quoted.
std::string ParamOf(const Dim& d) {
  std::vector<std::string> symbols;
  d.CollectSymbols(symbols);
  return symbols.size() == 1 && d == Dim::Symbol(symbols[0]) ? symbols[0] : d.ToString();
}

void ShapeToOnnx(const Shape& shape, pb::TensorShapeProto& p) {
  for (const Dim& d : shape.dims) {
    auto* out = p.add_dim();
    if (d.known())
      out->set_dim_value(d.value());
    else if (d.symbolic())
      out->set_dim_param(ParamOf(d));
  }
}

}  // namespace

Type TypeFromOnnx(const pb::TypeProto& p, const DimNames& names) {
  const auto tensor = [&](const auto& t) {
    return Type::TensorOf(DTypeOrInvalid(t.elem_type()),
                          t.has_shape() ? ShapeFromOnnx(t.shape(), names) : Shape());
  };
  if (p.has_tensor_type()) return tensor(p.tensor_type());
  if (p.has_sparse_tensor_type()) return tensor(p.sparse_tensor_type());
  if (p.has_sequence_type()) return Type::SequenceOf(TypeFromOnnx(p.sequence_type().elem_type(), names));
  if (p.has_optional_type()) return Type::OptionalOf(TypeFromOnnx(p.optional_type().elem_type(), names));
  if (p.has_map_type())
    return Type::MapOf(DTypeOrInvalid(p.map_type().key_type()),
                       TypeFromOnnx(p.map_type().value_type(), names));
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
