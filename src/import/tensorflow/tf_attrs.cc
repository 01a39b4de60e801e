// Reads attributes for converters. An attribute that is absent has the default of TensorFlow's registry.
#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/converter.h"
#include "import/tensorflow/op_table.h"
#include "import/tensorflow/proto_tensor.h"

namespace tern::tensorflow {

const pb::AttrValue* TfNode::Raw(std::string_view name) const {
  const auto found = proto_.attr().find(std::string(name));
  if (found != proto_.attr().end()) {
    if (found->second.value_case() != pb::AttrValue::kPlaceholder) return &found->second;
    return importer_.CallAttribute(found->second.placeholder());
  }
  const OpInfo* info = FindOpInfo(proto_.op());
  if (!info) return nullptr;
  const auto standard = info->defaults.find(name);
  return standard == info->defaults.end() ? nullptr : &standard->second;
}

bool TfNode::HasAttr(std::string_view name) const { return Raw(name) != nullptr; }

namespace {

// Reports a missing attribute or one of another kind. Returns null in these cases.
const pb::AttrValue* Typed(const TfNode& n, std::string_view name, pb::AttrValue::ValueCase kind,
                           const char* what) {
  const auto* a = n.Raw(name);
  if (!a) {
    n.b.Fail(n.Bad("attribute '", name, "' is missing"));
    return nullptr;
  }
  if (a->value_case() == kind) return a;
  n.b.Fail(n.Bad("attribute '", name, "' must be ", what));
  return nullptr;
}

}  // namespace

bool TfNode::Bool(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kB, "a truth value");
  return a && a->b();
}
int64_t TfNode::Int(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kI, "an integer");
  return a ? a->i() : 0;
}
float TfNode::Float(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kF, "a number");
  return a ? a->f() : 0;
}
std::string TfNode::Text(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kS, "a text");
  return a ? a->s() : "";
}
std::vector<int64_t> TfNode::Ints(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kList, "a list");
  return a ? std::vector<int64_t>(a->list().i().begin(), a->list().i().end()) : std::vector<int64_t>();
}
std::vector<float> TfNode::Floats(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kList, "a list");
  return a ? std::vector<float>(a->list().f().begin(), a->list().f().end()) : std::vector<float>();
}
std::vector<std::string> TfNode::Texts(std::string_view name) const {
  const auto* a = Typed(*this, name, pb::AttrValue::kList, "a list");
  return a ? std::vector<std::string>(a->list().s().begin(), a->list().s().end())
           : std::vector<std::string>();
}

Result<DType> TfNode::DTypeAttr(std::string_view name) const {
  const auto* a = Raw(name);
  if (!a || a->value_case() != pb::AttrValue::kType) return Bad("attribute '", name, "' must be a type");
  auto dtype = tensorflow::DTypeOf(a->type());
  if (!dtype.ok()) return NotYet("attribute '", name, "': ", dtype.status().message());
  return dtype;
}

Result<Shape> TfNode::ShapeAttr(std::string_view name) const {
  const auto* a = Raw(name);
  if (!a) return Shape();
  if (a->value_case() != pb::AttrValue::kShape) return Bad("attribute '", name, "' must be a shape");
  auto shape = tensorflow::ShapeOf(a->shape());
  if (!shape.ok()) return Bad("attribute '", name, "': ", shape.status().message());
  return shape;
}

std::string TfNode::Function(std::string_view name) const {
  const auto* a = Raw(name);
  return a && a->value_case() == pb::AttrValue::kFunc ? a->func().name() : "";
}

}  // namespace tern::tensorflow
