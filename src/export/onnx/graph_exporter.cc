#include "export/onnx/graph_exporter.h"

#include <algorithm>

#include "ir/derived.h"

namespace tern::onnx {
namespace {

void SetAttr(const std::string& name, const AttrValue& value, pb::AttributeProto& a) {
  a.set_name(name);
  const auto as_int = [&](int64_t v) {
    a.set_type(pb::AttributeProto::INT);
    a.set_i(v);
  };
  if (auto* v = std::get_if<bool>(&value))
    as_int(*v);
  else if (auto* v = std::get_if<int64_t>(&value))
    as_int(*v);
  else if (auto* v = std::get_if<DType>(&value))
    as_int(DTypeToOnnx(*v));
  else if (auto* v = std::get_if<double>(&value)) {
    a.set_type(pb::AttributeProto::FLOAT);
    a.set_f(static_cast<float>(*v));
  } else if (auto* v = std::get_if<std::string>(&value)) {
    a.set_type(pb::AttributeProto::STRING);
    a.set_s(*v);
  } else if (auto* v = std::get_if<std::vector<int64_t>>(&value)) {
    a.set_type(pb::AttributeProto::INTS);
    for (int64_t x : *v) a.add_ints(x);
  } else if (auto* v = std::get_if<std::vector<double>>(&value)) {
    a.set_type(pb::AttributeProto::FLOATS);
    for (double x : *v) a.add_floats(static_cast<float>(x));
  } else if (auto* v = std::get_if<std::vector<std::string>>(&value)) {
    a.set_type(pb::AttributeProto::STRINGS);
    for (const auto& x : *v) a.add_strings(x);
  } else {
    a.set_type(pb::AttributeProto::TENSOR);
    TensorToOnnx(std::get<Tensor>(value), *a.mutable_t());
  }
}

// Returns the opset that introduced the element type.
int OpsetOf(DType t) {
  switch (t) {
    case DType::kI2:
    case DType::kU2:
      return 25;
    case DType::kF8E8M0:
      return 24;
    case DType::kF4E2M1:
      return 23;
    default:
      return kExportOpset;
  }
}

// Renames values of a graph and its nested graphs. `names` maps old names to new names.
void Rename(const std::map<std::string, std::string>& names, pb::GraphProto& graph) {
  const auto change = [&](std::string* name) {
    if (auto it = names.find(*name); it != names.end()) *name = it->second;
  };
  for (auto& v : *graph.mutable_input()) change(v.mutable_name());
  for (auto& v : *graph.mutable_output()) change(v.mutable_name());
  for (auto& node : *graph.mutable_node()) {
    for (auto& v : *node.mutable_input()) change(&v);
    for (auto& v : *node.mutable_output()) change(&v);
    for (auto& a : *node.mutable_attribute())
      if (a.has_g()) Rename(names, *a.mutable_g());
  }
}

// ToFirst returns the permutation from [N, spatial…, C] to [N, C, spatial…]. ToLast returns its inverse.
std::vector<int64_t> ToFirst(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}
std::vector<int64_t> ToLast(int rank) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

// Exports a channels-last node. Transposes x and the residual to channels first, calls the op's exporter,
// and transposes the result back.
Status ExportChannelsLast(const Exporter& exporter, TernNode& n) {
  const int rank = n.node.output(0)->type.shape.rank();
  if (rank < 0) return n.NotExportable("channels_last needs a known rank");
  const std::string y = n.Out(0);
  n.SetIn(0, n.Op("Transpose", {n.In(0)}, {{"perm", ToFirst(rank)}}));
  const auto& ports = n.node.op->inputs;
  const auto at =
      std::find_if(ports.begin(), ports.end(), [](const Port& p) { return p.name == "residual"; });
  const int residual = static_cast<int>(at - ports.begin());
  if (at != ports.end() && n.Has(residual)) {
    const int own = n.TypeOf(residual).shape.rank();
    if (own < 0) return n.NotExportable("channels_last needs a residual of known rank");
    std::vector<int64_t> lead;
    for (int64_t i = 0; i < rank - own; ++i) lead.push_back(i);
    const std::string full =
        lead.empty() ? n.In(residual) : n.Op("Unsqueeze", {n.In(residual), n.Ints(lead)});
    n.SetIn(residual, n.Op("Transpose", {full}, {{"perm", ToFirst(rank)}}));
  }
  n.SetOut(0, n.Temp());
  TERN_TRY(exporter(n));
  n.Emit("Transpose", {n.Out(0)}, {y}, {{"perm", ToLast(rank)}});
  return {};
}

}  // namespace

bool ChannelsLast(const Attrs& attrs) { return attrs.Has("channels_last") && attrs.Bool("channels_last"); }

std::string TernNode::In(int i) const {
  if (const auto it = other_ins_.find(i); it != other_ins_.end()) return it->second;
  return node.input(i) ? exporter_.NameOf(node.input(i)) : "";
}

std::string TernNode::Out(int i) const {
  if (const auto it = other_outs_.find(i); it != other_outs_.end()) return it->second;
  return i < static_cast<int>(node.outputs().size()) ? exporter_.NameOf(node.output(i)) : "";
}

std::vector<std::string> TernNode::Ins() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < node.inputs().size(); ++i) names.push_back(In(static_cast<int>(i)));
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

std::vector<std::string> TernNode::Outs() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < node.outputs().size(); ++i) names.push_back(Out(static_cast<int>(i)));
  return names;
}

std::string TernNode::Temp() { return exporter_.Fresh(StrCat(Out(0), "_t")); }
std::string TernNode::Const(const Tensor& t) { return exporter_.AddInitializer(t, StrCat(Out(0), "_c")); }

std::string TernNode::Emit(const char* op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const AttrList& attrs,
                           const char* domain) {
  pb::NodeProto* p = exporter_.AddNode();
  p->set_op_type(op);
  p->set_name(exporter_.Fresh(node.name.empty() ? StrCat(op, "_n") : node.name));
  if (*domain) p->set_domain(domain);
  size_t count = inputs.size();
  while (count && inputs[count - 1].empty()) --count;
  for (size_t i = 0; i < count; ++i) p->add_input(inputs[i]);
  for (const auto& out : outputs) p->add_output(out);
  for (const auto& [name, value] : attrs) SetAttr(name, value, *p->add_attribute());
  return outputs.empty() ? "" : outputs[0];
}

std::string TernNode::Once(const std::string& key, const std::function<std::string()>& make) {
  const auto it = exporter_.emitted.find(key);
  if (it != exporter_.emitted.end()) return it->second;
  return exporter_.emitted[key] = make();
}

std::string TernNode::NameOf(const Value* value) const { return value ? exporter_.NameOf(value) : ""; }
void TernNode::TakeOver(const Node& later) { exporter_.done.insert(&later); }

bool TernNode::Contrib(DType type) const { return exporter_.contrib && type == DType::kF32; }

Status TernNode::EmitSubgraphs(const std::vector<const char*>& attrs) {
  pb::NodeProto* owner = exporter_.last_node();
  for (size_t i = 0; i < attrs.size(); ++i) {
    auto* a = owner->add_attribute();
    a->set_name(attrs[i]);
    a->set_type(pb::AttributeProto::GRAPH);
    GraphExporter inner(*a->mutable_g(), &exporter_);
    TERN_TRY(inner.Export(*node.subgraphs()[i]));
  }
  return {};
}

void TernNode::EmitTypeAttr(const char* attr, const Type& type) {
  auto* a = exporter_.last_node()->add_attribute();
  a->set_name(attr);
  a->set_type(pb::AttributeProto::TYPE_PROTO);
  TypeToOnnx(type, *a->mutable_tp());
}

void TernNode::NeedOpset(int version) { exporter_.NeedOpset(version); }
void TernNode::NeedMlOpset(int version) { exporter_.NeedMlOpset(version); }

void TernNode::NameSubgraph(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  pb::GraphProto& graph = *exporter_.last_node()->mutable_attribute()->rbegin()->mutable_g();
  std::map<std::string, std::string> names;
  for (int i = 0; i < graph.input_size() && i < static_cast<int>(inputs.size()); ++i)
    names[graph.input(i).name()] = inputs[static_cast<size_t>(i)];
  for (int i = 0; i < graph.output_size() && i < static_cast<int>(outputs.size()); ++i)
    names[graph.output(i).name()] = outputs[static_cast<size_t>(i)];
  Rename(names, graph);
}

void GraphExporter::NeedOpset(int version) {
  GraphExporter* top = this;
  while (top->outer_) top = top->outer_;
  top->opset_ = std::max(top->opset_, version);
}

void GraphExporter::NeedMlOpset(int version) {
  GraphExporter* top = this;
  while (top->outer_) top = top->outer_;
  top->ml_opset_ = std::max(top->ml_opset_, version);
}

void ExporterTable::Add(const char* tern_op, Exporter exporter) {
  const bool fresh = table_.emplace(tern_op, std::move(exporter)).second;
  TERN_CHECK(fresh, "two exporters for ", tern_op);
}

const Exporter* ExporterTable::Find(std::string_view tern_op) const {
  auto it = table_.find(tern_op);
  return it == table_.end() ? nullptr : &it->second;
}

Exporter DirectTo(const char* onnx_op, std::vector<std::string> attrs, AttrList fixed, const char* domain) {
  return [=](TernNode& n) -> Status {
    AttrList list = fixed;
    for (const auto& entry : n.attrs().List())
      for (const std::string& name : attrs) {
        const size_t equals = name.find('=');
        if (entry.name != name.substr(0, equals)) continue;
        list.emplace_back(equals == std::string::npos ? name : name.substr(equals + 1), entry.value);
      }
    n.Emit(onnx_op, n.Ins(), n.Outs(), list, domain);
    return {};
  };
}

std::string GraphExporter::Fresh(const std::string& base) {
  const std::string stem = base.empty() ? "v" : base;
  std::string name = stem;
  for (int i = 1; !names_->insert(name).second; ++i) name = StrCat(stem, "_", i);
  return name;
}

const std::string* GraphExporter::FindName(const Value* value) const {
  for (const GraphExporter* g = this; g; g = g->outer_) {
    auto it = g->value_names_.find(value);
    if (it != g->value_names_.end()) return &it->second;
  }
  return nullptr;
}

std::string GraphExporter::NameOf(const Value* value) {
  if (const std::string* name = FindName(value)) return *name;
  return value_names_[value] = Fresh(value->name);
}

std::string GraphExporter::AddInitializer(const Tensor& tensor, const std::string& base) {
  pb::TensorProto* p = proto_.add_initializer();
  const std::string name = Fresh(base);
  p->set_name(name);
  constexpr size_t kKeepInside = 1024;
  const GraphExporter* top = this;
  while (top->outer_) top = top->outer_;
  if (top->keep_weights_outside && this == top && tensor.dtype() != DType::kString &&
      tensor.bytes() >= kKeepInside) {
    p->set_data_type(DTypeToOnnx(tensor.dtype()));
    for (int64_t d : tensor.dims()) p->add_dims(d);
    initializers_.emplace_back(p, tensor);
  } else {
    TensorToOnnx(tensor, *p);
  }
  return name;
}

pb::NodeProto* GraphExporter::AddNode() { return last_ = proto_.add_node(); }

std::string GraphExporter::Copied(const std::string& name) {
  pb::NodeProto* node = AddNode();
  node->set_op_type("Identity");
  node->set_name(Fresh("Identity_n"));
  node->add_input(name);
  node->add_output(Fresh(name));
  return node->output(0);
}

Status GraphExporter::Export(const Graph& graph) {
  proto_.set_name(graph.name.empty() ? "main" : graph.name);
  // Names inputs and outputs before other values, so that they keep their names without a suffix.
  for (const Value* v : graph.inputs()) {
    auto* info = proto_.add_input();
    info->set_name(NameOf(v));
    TypeToOnnx(v->type, *info->mutable_type());
  }
  for (const Value* v : graph.outputs()) NameOf(v);
  // Omits packed weights, because other engines cannot use them. Packed weights are constants with a derived
  // name and without readers.
  for (const auto& v : graph.values())
    if (v->is_constant() && !(v->uses.empty() && ParseDerivedName(v->name)))
      value_names_[v.get()] = AddInitializer(v->constant, v->name.empty() ? "c" : v->name);
  for (const Value* v : graph.overridable()) {
    auto* info = proto_.add_input();
    info->set_name(NameOf(v));
    TypeToOnnx(v->type, *info->mutable_type());
  }
  for (const auto& v : graph.values()) NeedOpset(OpsetOf(v->type.dtype));
  for (const auto& node : graph.nodes()) {
    if (done.count(node.get())) continue;
    const Exporter* exporter = Exporters().Find(node->op->name);
    if (!exporter) return Unsupported(node->Describe(), ": no ONNX form of this op is known");
    TernNode view(*this, *node);
    TERN_TRY(ChannelsLast(node->attrs) ? ExportChannelsLast(*exporter, view) : (*exporter)(view));
  }
  std::set<const Value*> listed;
  for (const Value* v : graph.outputs()) {
    // An ONNX graph may return only its own values, and each value only once. An Identity copies other
    // values.
    const bool own = v->graph == &graph && listed.insert(v).second;
    const std::string name = own ? NameOf(v) : Copied(NameOf(v));
    auto* info = proto_.add_output();
    info->set_name(name);
    TypeToOnnx(v->type, *info->mutable_type());
  }
  return {};
}

}  // namespace tern::onnx
