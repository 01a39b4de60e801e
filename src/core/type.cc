#include "core/type.h"

namespace tern {

// These functions are not inline, because otherwise nearly every object file would contain a copy of them.
Shape::Shape() = default;
Shape::Shape(std::vector<Dim> d) : ranked(true), dims(std::move(d)) {}
Shape::Shape(const Shape&) = default;
Shape::Shape(Shape&&) noexcept = default;
Shape& Shape::operator=(const Shape&) = default;
Shape& Shape::operator=(Shape&&) noexcept = default;
Shape::~Shape() = default;

Type::Type() = default;
Type::Type(const Type&) = default;
Type::Type(Type&&) noexcept = default;
Type& Type::operator=(const Type&) = default;
Type& Type::operator=(Type&&) noexcept = default;
Type::~Type() = default;

Shape Shape::Of(const Dims& d) { return Shape(std::vector<Dim>(d.begin(), d.end())); }

bool Shape::fully_known() const {
  if (!ranked) return false;
  for (const Dim& d : dims)
    if (!d.known()) return false;
  return true;
}

Dims Shape::Concrete() const {
  TERN_CHECK(fully_known(), "shape ", ToString(), " is not fully known");
  Dims out;
  for (const Dim& d : dims) out.push_back(d.value());
  return out;
}

std::string Shape::ToString() const {
  if (!ranked) return "[*]";
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? "," : "") + dims[i].ToString();
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) { return a.ranked && b.ranked && a.dims == b.dims; }

Type Type::TensorOf(DType dtype, Shape shape) {
  Type t;
  t.kind = Kind::kTensor;
  t.dtype = dtype;
  t.shape = std::move(shape);
  return t;
}

static Type Wrap(Type::Kind kind, Type element) {
  Type t;
  t.kind = kind;
  t.element = std::make_shared<const Type>(std::move(element));
  return t;
}

Type Type::SequenceOf(Type element) { return Wrap(Kind::kSequence, std::move(element)); }
Type Type::OptionalOf(Type element) { return Wrap(Kind::kOptional, std::move(element)); }

Type Type::MapOf(DType key, Type value) {
  Type t = Wrap(Kind::kMap, std::move(value));
  t.dtype = key;
  return t;
}

std::string Type::ToString() const {
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor:
      return StrCat(DTypeName(dtype), shape.ToString());
    case Kind::kSequence:
      return StrCat("seq(", element->ToString(), ")");
    case Kind::kOptional:
      return StrCat("optional(", element->ToString(), ")");
    case Kind::kMap:
      return StrCat("map(", DTypeName(dtype), ",", element->ToString(), ")");
  }
  return "unknown";
}

int Type::Depth() const {
  int depth = 0;
  for (const Type* t = element.get(); t; t = t->element.get()) ++depth;
  return depth;
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.dtype != b.dtype) return false;
  if (a.tensor()) return a.shape == b.shape || (!a.shape.ranked && !b.shape.ranked);
  if (!a.element || !b.element) return a.element == b.element;
  return *a.element == *b.element;
}

void RefineType(Type& type, const Type& declared) {
  const bool is_unknown = type.kind == Type::Kind::kUnknown;
  // MergeTypes of the two branches of an If may have made `type` optional although the declared type is not.
  const bool is_optional = type.kind == Type::Kind::kOptional && declared.kind != Type::Kind::kOptional;
  if (is_unknown || (is_optional && declared.kind != Type::Kind::kUnknown)) type = declared;
  if (!type.tensor() || !declared.tensor()) return;
  if (type.dtype == DType::kInvalid) type.dtype = declared.dtype;
  if (!type.shape.ranked) type.shape = declared.shape;
  if (type.shape.rank() != declared.shape.rank()) return;
  for (size_t i = 0; i < type.shape.dims.size(); ++i)
    if (type.shape.dims[i].unknown()) type.shape.dims[i] = declared.shape.dims[i];
}

static Shape MergeShapes(const Shape& a, const Shape& b) {
  if (!a.ranked || !b.ranked || a.rank() != b.rank()) return {};
  std::vector<Dim> dims;
  for (size_t i = 0; i < a.dims.size(); ++i)
    dims.push_back(a.dims[i] == b.dims[i] ? a.dims[i] : Dim::Unknown());
  return Shape(std::move(dims));
}

Type MergeTypes(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::kUnknown) return b;
  if (b.kind == Type::Kind::kUnknown) return a;
  // If one of the two types is optional, the result is optional.
  if (a.kind == Type::Kind::kOptional && b.kind != Type::Kind::kOptional)
    return Type::OptionalOf(MergeTypes(*a.element, b));
  if (b.kind == Type::Kind::kOptional && a.kind != Type::Kind::kOptional)
    return Type::OptionalOf(MergeTypes(a, *b.element));
  if (a.kind != b.kind) return {};
  Type out = a;
  if (a.tensor()) {
    out.dtype = a.dtype == b.dtype ? a.dtype : DType::kInvalid;
    out.shape = MergeShapes(a.shape, b.shape);
  } else if (a.element && b.element) {
    out.element = std::make_shared<const Type>(MergeTypes(*a.element, *b.element));
  }
  return out;
}

}  // namespace tern
