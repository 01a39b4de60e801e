#include <algorithm>
#include <cmath>

#include "import/onnx/converter.h"
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

OnnxNode::OnnxNode(GraphImporter& importer, const tern_onnx::NodeProto& proto, Builder& builder,
                   int opset_version)
    : b(builder), opset(opset_version), importer_(importer), proto_(proto) {}

const std::string& OnnxNode::op() const { return proto_.op_type(); }
const std::string& OnnxNode::domain() const { return proto_.domain(); }
int OnnxNode::InputCount() const { return proto_.input_size(); }
int OnnxNode::OutputCount() const { return proto_.output_size(); }
bool OnnxNode::Has(int i) const { return In(i) != nullptr; }
bool OnnxNode::Wants(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }

Value* OnnxNode::In(int i) const {
  if (i >= proto_.input_size() || proto_.input(i).empty()) return nullptr;
  return importer_.Find(proto_.input(i));
}

void OnnxNode::Out(int i, Value* value) {
  if (Wants(i)) importer_.Bind(proto_.output(i), value);
}

void OnnxNode::Out(const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) Out(static_cast<int>(i), values[i]);
}

void OnnxNode::AddWarning(std::string text) const { importer_.model().warnings.push_back(std::move(text)); }

const Tensor* OnnxNode::Constant(int i) const {
  const Value* v = In(i);
  return v && v->is_constant() ? &v->constant : nullptr;
}

std::optional<std::vector<int64_t>> OnnxNode::Longs(int i) const {
  const Tensor* t = Constant(i);
  if (!t || !IsInt(t->dtype())) return std::nullopt;
  return ToLongs(*t);
}

const tern_onnx::AttributeProto* OnnxNode::Raw(std::string_view name) const {
  for (const auto& a : proto_.attribute()) {
    if (a.name() != name) continue;
    return a.ref_attr_name().empty() ? &a : importer_.CallAttribute(a.ref_attr_name());
  }
  return nullptr;
}

// Returns the name of an attribute kind. `kind` is a number of ONNX's AttributeType.
static const char* KindName(int kind) {
  static const char* const kNames[] = {"of no kind",
                                       "a float",
                                       "an integer",
                                       "a string",
                                       "a tensor",
                                       "a graph",
                                       "a list of floats",
                                       "a list of integers",
                                       "a list of strings",
                                       "a list of tensors",
                                       "a list of graphs",
                                       "a sparse tensor",
                                       "a list of sparse tensors",
                                       "a type",
                                       "a list of types"};
  return kind >= 0 && kind < static_cast<int>(std::size(kNames)) ? kNames[kind] : "of an unknown kind";
}

// Returns the kind of an attribute. Files of ir_version 1 do not store the kind, so it is derived from the
// field that is set.
static int KindOf(const tern_onnx::AttributeProto& a) {
  using A = tern_onnx::AttributeProto;
  if (a.type() != A::UNDEFINED) return a.type();
  if (a.has_f()) return A::FLOAT;
  if (a.has_s()) return A::STRING;
  if (a.floats_size()) return A::FLOATS;
  if (a.ints_size()) return A::INTS;
  return a.strings_size() ? A::STRINGS : A::INT;
}

// Returns whether the attribute is an empty list, or has neither kind nor value.
static bool IsEmpty(const tern_onnx::AttributeProto& a) {
  using A = tern_onnx::AttributeProto;
  const bool list = a.type() == A::FLOATS || a.type() == A::INTS || a.type() == A::STRINGS;
  const bool bare = a.type() == A::UNDEFINED && !a.has_f() && !a.has_i() && !a.has_s();
  return (list || bare) && a.floats_size() + a.ints_size() + a.strings_size() == 0;
}

// Returns whether the attribute can be read as this kind. An empty attribute can be read as any kind. A float
// such as 2.0 can be read as an integer, and an integer as a float, if the conversion is exact. Old and
// hand-written files contain such attributes, although onnx.checker and onnxruntime refuse them.
static bool ReadsAs(const tern_onnx::AttributeProto& a, int kind) {
  using A = tern_onnx::AttributeProto;
  const int stored = KindOf(a);
  if (stored == kind || IsEmpty(a)) return true;
  const auto integral = [](float f) { return std::trunc(f) == f && std::fabs(f) < 0x1p63f; };
  const auto exact = [](int64_t i) { return i >= -(1 << 24) && i <= 1 << 24; };
  if (kind == A::INT) return stored == A::FLOAT && integral(a.f());
  if (kind == A::FLOAT) return stored == A::INT && exact(a.i());
  if (kind == A::INTS)
    return stored == A::FLOATS && std::all_of(a.floats().begin(), a.floats().end(), integral);
  if (kind == A::FLOATS) return stored == A::INTS && std::all_of(a.ints().begin(), a.ints().end(), exact);
  return false;
}

const tern_onnx::AttributeProto* OnnxNode::Typed(std::string_view name, int kind) const {
  const auto* a = Raw(name);
  if (!a || ReadsAs(*a, kind)) return a;
  b.Fail(Bad("attribute '", name, "' is ", KindName(KindOf(*a)), ", but must be ", KindName(kind)));
  return nullptr;
}

bool OnnxNode::HasAttr(std::string_view name) const { return Raw(name) != nullptr; }

int64_t OnnxNode::Int(std::string_view name, int64_t otherwise) const {
  const auto* a = Typed(name, tern_onnx::AttributeProto::INT);
  if (!a) return otherwise;
  return KindOf(*a) == tern_onnx::AttributeProto::FLOAT ? static_cast<int64_t>(a->f()) : a->i();
}

float OnnxNode::Float(std::string_view name, float otherwise) const {
  const auto* a = Typed(name, tern_onnx::AttributeProto::FLOAT);
  if (!a) return otherwise;
  return KindOf(*a) == tern_onnx::AttributeProto::INT ? static_cast<float>(a->i()) : a->f();
}

std::string OnnxNode::Text(std::string_view name, std::string otherwise) const {
  const auto* a = Typed(name, tern_onnx::AttributeProto::STRING);
  return a ? a->s() : otherwise;
}

std::vector<int64_t> OnnxNode::Ints(std::string_view name, std::vector<int64_t> otherwise) const {
  const auto* a = Typed(name, tern_onnx::AttributeProto::INTS);
  if (!a) return otherwise;
  if (a->floats_size()) return {a->floats().begin(), a->floats().end()};
  return {a->ints().begin(), a->ints().end()};
}

std::vector<float> OnnxNode::Floats(std::string_view name, std::vector<float> otherwise) const {
  const auto* a = Typed(name, tern_onnx::AttributeProto::FLOATS);
  if (!a) return otherwise;
  if (a->ints_size()) return {a->ints().begin(), a->ints().end()};
  return {a->floats().begin(), a->floats().end()};
}

std::vector<std::string> OnnxNode::Texts(std::string_view name) const {
  const auto* a = Typed(name, tern_onnx::AttributeProto::STRINGS);
  return a ? std::vector<std::string>(a->strings().begin(), a->strings().end()) : std::vector<std::string>();
}

Result<Tensor> OnnxNode::TensorAttr(std::string_view name) const {
  const auto* a = Raw(name);
  if (!a) return Bad("attribute '", name, "' is missing");
  const TensorSource& source = importer_.model().source;
  if (a->has_sparse_tensor()) return SparseFromOnnx(a->sparse_tensor(), source);
  if (!a->has_t()) return Bad("attribute '", name, "' is ", KindName(a->type()), ", but must be a tensor");
  auto tensor = TensorFromOnnx(a->t(), source);
  if (!tensor.ok()) return Bad("attribute '", name, "': ", tensor.status().message());
  return tensor;
}

Result<DType> OnnxNode::DTypeAttr(std::string_view name, DType otherwise) const {
  if (!Typed(name, tern_onnx::AttributeProto::INT)) return otherwise;
  const int64_t number = Int(name);
  auto dtype = DTypeFromOnnx(number >= 0 && number < INT32_MAX ? static_cast<int>(number) : -1);
  if (!dtype.ok()) return Bad("attribute '", name, "': ", dtype.status().message());
  return dtype;
}

Type OnnxNode::TypeAttr(std::string_view name) const {
  const auto* a = Raw(name);
  return a ? importer_.Declared(a->tp()) : Type();
}

std::vector<std::string> OnnxNode::AttrNames() const {
  std::vector<std::string> names;
  for (const auto& a : proto_.attribute()) names.push_back(a.name());
  return names;
}

Status OnnxNode::Subgraph(Node* node, std::string_view attr, std::string role,
                          const std::vector<Type>& types) {
  const auto* a = Raw(attr);
  if (!a || !a->has_g()) return Bad("graph attribute '", attr, "' is missing");
  Graph* sub = node->graph->AddSubgraph(node, std::move(role));
  GraphImporter inner(importer_.model(), *sub, &importer_);
  inner.GiveInputTypes(types);
  return inner.Import(a->g()).While(StrCat("importing the ", attr, " graph of ", Describe()));
}

Result<std::vector<Value*>> OnnxNode::Inline(std::string_view attr, const std::vector<Value*>& inputs) {
  const auto* a = Raw(attr);
  if (!a || !a->has_g()) return Bad("graph attribute '", attr, "' is missing");
  return importer_.InlineGraph(a->g(), inputs);
}

int OnnxNode::SubgraphInputs(std::string_view attr) const {
  const auto* a = Raw(attr);
  return a ? a->g().input_size() : 0;
}

int OnnxNode::SubgraphOutputs(std::string_view attr) const {
  const auto* a = Raw(attr);
  return a ? a->g().output_size() : 0;
}

std::string OnnxNode::Describe() const {
  return StrCat("node '", NodeLabel(proto_), "' (", proto_.domain().empty() ? "" : proto_.domain() + ".",
                proto_.op_type(), ")");
}

void ConverterTable::Add(const char* op, Converter converter, const char* domain) {
  const bool fresh = table_.emplace(*domain ? StrCat(domain, ".", op) : op, std::move(converter)).second;
  TERN_CHECK(fresh, "two converters for ", domain, " ", op);
}

const Converter* ConverterTable::Find(std::string_view domain, std::string_view op) const {
  auto it = table_.find(domain.empty() ? std::string(op) : StrCat(domain, ".", op));
  return it == table_.end() ? nullptr : &it->second;
}

std::vector<std::string> ConverterTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, converter] : table_) names.push_back(name);
  return names;
}

static Result<AttrValue> ToAttrValue(const tern_onnx::AttributeProto& a) {
  using A = tern_onnx::AttributeProto;
  switch (KindOf(a)) {
    case A::FLOAT:
      return AttrValue(static_cast<double>(a.f()));
    case A::INT:
      return AttrValue(a.i());
    case A::STRING:
      return AttrValue(a.s());
    case A::FLOATS:
      return AttrValue(std::vector<double>(a.floats().begin(), a.floats().end()));
    case A::INTS:
      return AttrValue(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case A::STRINGS:
      return AttrValue(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    default:
      return InvalidModel("attribute '", a.name(), "' is ", KindName(a.type()),
                          ", but must be a number, a string or a list of them");
  }
}

Converter Direct(const char* tern_op, std::vector<std::string> attrs, AttrList fixed) {
  return [=](OnnxNode& n) -> Status {
    AttrList list = fixed;
    for (const std::string& name : attrs) {
      const size_t equals = name.find('=');
      const std::string from = name.substr(0, equals),
                        to = equals == std::string::npos ? name : name.substr(equals + 1);
      const auto* a = n.Raw(from);
      if (!a) continue;
      auto value = ToAttrValue(*a);
      if (!value.ok()) return n.Bad(value.status().message());
      list.emplace_back(to, std::move(*value));
    }
    std::vector<Value*> inputs;
    for (int i = 0; i < n.InputCount(); ++i) inputs.push_back(n.In(i));
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    n.Out(n.b.Ops(tern_op, inputs, list, n.OutputCount()));
    return {};
  };
}

}  // namespace tern::onnx
