#include "import/onnx/graph_importer.h"

namespace tern::onnx {
namespace {
constexpr int kMaxFunctionDepth = 64;
}

std::string CleanDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload) {
  return StrCat(CleanDomain(domain), ":", name, ":", overload);
}

Value* GraphImporter::Find(const std::string& name) const {
  for (const GraphImporter* g = this; g; g = g->outer_) {
    auto it = g->names_.find(name);
    if (it != g->names_.end()) return it->second;
  }
  return nullptr;
}

void GraphImporter::Bind(const std::string& name, Value* value) {
  names_[name] = value;
  if (value->name.empty()) value->name = name;
}

const pb::AttributeProto* GraphImporter::CallAttribute(const std::string& name) const {
  for (const GraphImporter* g = this; g; g = g->outer_) {
    if (!g->call_attributes_) continue;
    auto it = g->call_attributes_->find(name);
    return it == g->call_attributes_->end() ? nullptr : it->second;
  }
  return nullptr;
}

Status GraphImporter::AddInitializers(const pb::GraphProto& proto, const std::set<std::string>& inputs) {
  for (const auto& p : proto.initializer()) {
    TERN_ASSIGN(Tensor tensor, TensorFromOnnx(p, model_.source));
    Value* v = graph_.AddConstant(std::move(tensor), p.name());
    names_[p.name()] = v;
    if (inputs.count(p.name()) && !outer_) graph_.MarkOverridable(v);
  }
  for (const auto& p : proto.sparse_initializer()) {
    TERN_ASSIGN(Tensor tensor, SparseFromOnnx(p, model_.source));
    names_[p.values().name()] = graph_.AddConstant(std::move(tensor), p.values().name());
  }
  return {};
}

// A body often leaves its inputs' types out; the node around it knows them.
void GraphImporter::GiveInputTypes(const std::vector<Type>& types) { given_ = types; }

Status GraphImporter::AddInputs(const pb::GraphProto& proto) {
  std::set<std::string> input_names;
  for (const auto& in : proto.input()) input_names.insert(in.name());
  TERN_TRY(AddInitializers(proto, input_names));
  for (const auto& in : proto.input()) {
    if (names_.count(in.name())) continue;
    Type type = TypeFromOnnx(in.type());
    const size_t index = graph_.inputs().size();
    if (index < given_.size()) RefineType(type, given_[index]);
    names_[in.name()] = graph_.AddInput(in.name(), std::move(type));
  }
  for (const auto& info : proto.value_info()) declared_[info.name()] = TypeFromOnnx(info.type());
  for (const auto& out : proto.output()) declared_.emplace(out.name(), TypeFromOnnx(out.type()));
  return {};
}

Status GraphImporter::AddNodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes,
                               const std::map<std::string, int>& opsets) {
  TERN_ASSIGN(auto ordered, OrderNodes(nodes));
  std::map<const pb::NodeProto*, int> numbers;
  for (int i = 0; i < nodes.size(); ++i) numbers[&nodes[i]] = i;
  body_opsets_ = &opsets;
  for (const pb::NodeProto* node : ordered) TERN_TRY(ConvertNode(*node, opsets, numbers[node]));
  return {};
}

static int OpsetOf(const std::map<std::string, int>& opsets, const std::string& domain) {
  auto it = opsets.find(domain);
  return it == opsets.end() ? 1 : it->second;
}

Status GraphImporter::ConvertNode(const pb::NodeProto& node, const std::map<std::string, int>& opsets, int index) {
  const std::string domain = CleanDomain(node.domain());
  auto function = model_.functions.find(FunctionKey(domain, node.op_type(), node.overload()));
  if (function != model_.functions.end()) return InlineFunction(node, *function->second, index);
  const Converter* converter = Converters().Find(domain, node.op_type());
  if (!converter) return Unsupported("operator ", domain.empty() ? "" : domain + ".", node.op_type(), " of node '", node.name(), "'");
  Builder builder(graph_);
  const std::string label = node.name().empty() && node.output_size() ? node.output(0) : node.name();
  builder.At(label, StrCat(node.op_type(), ", onnx node #", index));
  OnnxNode view(*this, node, builder, OpsetOf(opsets, domain));
  for (const std::string& in : node.input())
    if (!in.empty() && !Find(in)) return view.Bad("input '", in, "' is not made by any node, initializer or graph input");
  TERN_TRY((*converter)(view));
  TERN_TRY(Status(builder.status()));
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    Value* v = Find(name);
    auto it = names_.find(name);
    if (!v || it == names_.end()) return Status(Code::kInternal, StrCat(view.Describe(), ": output ", i, " was not made"));
    auto declared = declared_.find(name);
    if (declared != declared_.end()) RefineType(v->type, declared->second);
  }
  return {};
}

Status GraphImporter::InlineFunction(const pb::NodeProto& call, const pb::FunctionProto& function, int index) {
  if (depth_ >= kMaxFunctionDepth) return InvalidModel("function '", function.name(), "' calls itself, or calls nest deeper than ", kMaxFunctionDepth);
  std::map<std::string, const pb::AttributeProto*> attributes;
  for (const auto& a : function.attribute_proto()) attributes[a.name()] = &a;
  // A call's attribute may itself refer to the surrounding call's.
  for (const auto& a : call.attribute()) {
    if (a.ref_attr_name().empty()) attributes[a.name()] = &a;
    else if (const auto* outer = CallAttribute(a.ref_attr_name())) attributes[a.name()] = outer;
  }
  // Function bodies see their parameters only, so no outer scope for names.
  GraphImporter body(model_, graph_, nullptr);
  body.depth_ = depth_ + 1;
  body.call_attributes_ = &attributes;
  for (int i = 0; i < function.input_size() && i < call.input_size(); ++i) {
    if (call.input(i).empty()) continue;
    Value* v = Find(call.input(i));
    if (!v) return InvalidModel("call of function '", function.name(), "' (onnx node #", index, "): input '", call.input(i), "' does not exist");
    body.names_[function.input(i)] = v;
  }
  std::map<std::string, int> opsets;
  for (const auto& o : function.opset_import()) opsets[CleanDomain(o.domain())] = static_cast<int>(o.version());
  TERN_TRY(body.AddNodes(function.node(), opsets).While(StrCat("inlining function '", function.name(), "' called by node '", call.name(), "'")));
  for (int i = 0; i < call.output_size(); ++i) {
    if (call.output(i).empty()) continue;
    Value* v = i < function.output_size() ? body.Find(function.output(i)) : nullptr;
    if (!v) return InvalidModel("function '", function.name(), "' has no output ", i);
    names_[call.output(i)] = v;
  }
  return {};
}

Result<std::vector<Value*>> GraphImporter::InlineGraph(const pb::GraphProto& proto, const std::vector<Value*>& inputs) {
  if (static_cast<size_t>(proto.input_size()) != inputs.size())
    return InvalidModel("graph '", proto.name(), "' takes ", proto.input_size(), " inputs, gets ", inputs.size());
  GraphImporter body(model_, graph_, this);
  for (size_t i = 0; i < inputs.size(); ++i) body.names_[proto.input(static_cast<int>(i)).name()] = inputs[i];
  TERN_TRY(body.AddInitializers(proto, {}));
  TERN_TRY(body.AddNodes(proto.node(), body_opsets_ ? *body_opsets_ : model_.opsets));
  std::vector<Value*> outputs;
  for (const auto& out : proto.output()) {
    Value* v = body.Find(out.name());
    if (!v) return InvalidModel("graph '", proto.name(), "': output '", out.name(), "' is not made by any node");
    outputs.push_back(v);
  }
  return outputs;
}

Status GraphImporter::SetOutputs(const pb::GraphProto& proto) {
  std::vector<Value*> outputs;
  for (const auto& out : proto.output()) {
    Value* v = Find(out.name());
    if (!v) return InvalidModel("graph '", proto.name(), "': output '", out.name(), "' is not made by any node");
    // Each output is a value of its own, under its own name: a copy where it is an input, constant, or doubled.
    const bool own = v->graph == &graph_ && v->producer && std::find(outputs.begin(), outputs.end(), v) == outputs.end();
    if (!outer_ && (!own || v->name != out.name())) {
      Builder b(graph_);
      b.At(out.name(), "graph output");
      v = b.Op("Identity", {v});
      TERN_TRY(Status(b.status()));
      v->name = out.name();
    }
    outputs.push_back(v);
  }
  graph_.SetOutputs(std::move(outputs));
  return {};
}

Status GraphImporter::Import(const pb::GraphProto& proto) {
  TERN_TRY(AddInputs(proto));
  const auto* opsets = &model_.opsets;
  for (const GraphImporter* g = outer_; g; g = g->outer_)
    if (g->body_opsets_) {
      opsets = g->body_opsets_;
      break;
    }
  TERN_TRY(AddNodes(proto.node(), *opsets));
  return SetOutputs(proto);
}

}  // namespace tern::onnx
