#include "import/onnx/graph_importer.h"

#include <utility>

namespace tern::onnx {

std::string CleanDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string NodeLabel(const pb::NodeProto& node) {
  return node.name().empty() && node.output_size() ? node.output(0) : node.name();
}

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

bool GraphImporter::Knows(const std::string& name) const {
  for (const GraphImporter* g = this; g; g = g->outer_)
    if (g->names_.count(name)) return true;
  return false;
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

// Fails if an earlier initializer with the same name has another value. Two equal initializers are allowed.
Status GraphImporter::AddInitializer(const std::string& name, const std::string& place, Tensor tensor,
                                     bool overridable) {
  const auto [first, fresh] = initializers_.emplace(name, place);
  if (!fresh) {
    if (SameTensor(names_[name]->constant, tensor)) return {};
    return InvalidModel(first->second, " and ", place, " are both named '", name,
                        "' and differ: ", names_[name]->constant.Describe(), " and ", tensor.Describe());
  }
  names_[name] = graph_.AddConstant(std::move(tensor), name);
  if (overridable) graph_.MarkOverridable(names_[name]);
  return {};
}

Status GraphImporter::AddInitializers(const pb::GraphProto& proto, const std::set<std::string>& inputs) {
  for (int i = 0; i < proto.initializer_size(); ++i) {
    const auto& p = proto.initializer(i);
    TERN_ASSIGN(Tensor tensor, TensorFromOnnx(p, model_.source));
    const bool overridable = !outer_ && inputs.count(p.name());
    TERN_TRY(AddInitializer(p.name(), StrCat("initializer #", i), std::move(tensor), overridable));
  }
  for (int i = 0; i < proto.sparse_initializer_size(); ++i) {
    const auto& p = proto.sparse_initializer(i);
    TERN_ASSIGN(Tensor tensor, SparseFromOnnx(p, model_.source));
    TERN_TRY(AddInitializer(p.values().name(), StrCat("sparse initializer #", i), std::move(tensor), false));
  }
  return {};
}

void GraphImporter::GiveInputTypes(const std::vector<Type>& types) { given_ = types; }

Status GraphImporter::AddInputs(const pb::GraphProto& proto) {
  std::set<std::string> input_names;
  for (const auto& in : proto.input())
    if (!input_names.insert(in.name()).second)
      return InvalidModel("graph '", proto.name(), "' has two inputs named '", in.name(), "'");
  TERN_TRY(AddInitializers(proto, input_names));
  for (const auto& in : proto.input()) {
    if (names_.count(in.name())) continue;
    Type type = Declared(in.type(), !outer_);
    const size_t index = graph_.inputs().size();
    if (index < given_.size()) RefineType(type, given_[index]);
    names_[in.name()] = graph_.AddInput(in.name(), std::move(type));
  }
  for (const auto& info : proto.value_info()) declared_[info.name()] = Declared(info.type());
  for (const auto& out : proto.output()) declared_.emplace(out.name(), Declared(out.type()));
  return {};
}

Status GraphImporter::AddNodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes,
                               const std::map<std::string, int>& opsets) {
  if (depth_ > kMaxDepth)
    return InvalidModel("graphs and function calls nest deeper than ", kMaxDepth,
                        ": does a function call itself?");
  TERN_ASSIGN(auto ordered, OrderNodes(nodes));
  std::map<const pb::NodeProto*, int> numbers;
  for (int i = 0; i < nodes.size(); ++i) numbers[&nodes[i]] = i;
  body_opsets_ = &opsets;
  for (const pb::NodeProto* node : ordered) TERN_TRY(ConvertNode(*node, opsets, numbers[node]));
  return {};
}

// If a function's opset_import does not list a domain, the function's nodes use the model's version of this
// domain.
Result<int> GraphImporter::OpsetOf(const std::map<std::string, int>& opsets,
                                   const std::string& domain) const {
  for (const std::map<std::string, int>* imports : {&opsets, &std::as_const(model_.opsets)}) {
    auto it = imports->find(domain);
    if (it != imports->end()) return it->second;
  }
  if (domain.empty())
    return InvalidModel("operators of ai.onnx are used, but opset_import does not name their version");
  return 1;
}

Status GraphImporter::CheckOutputsAreNew(const pb::NodeProto& node) const {
  for (const std::string& out : node.output())
    if (!out.empty() && names_.count(out))
      return InvalidModel("node '", NodeLabel(node), "' (", node.op_type(), ") makes '", out,
                          "', which is an input or initializer of its graph");
  return {};
}

// Returns whether the declaration states a size that shape inference did not find.
static bool GivesNumbers(const Shape& found, const Shape& declared) {
  for (int i = 0; i < declared.rank(); ++i)
    if (declared[i].known() && (!found.ranked || (i < found.rank() && found[i].unknown()))) return true;
  return false;
}

Status GraphImporter::RefineOutputs(const pb::NodeProto& node) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    auto output = names_.find(name);
    if (output == names_.end())
      return InvalidModel("node '", NodeLabel(node), "' (", node.op_type(), ") has output ", i, " '", name,
                          "', which the operator does not produce");
    auto declared = declared_.find(name);
    if (declared == declared_.end()) continue;
    model_.claims.numbers |= GivesNumbers(output->second->type.shape, declared->second.shape);
    RefineType(output->second->type, declared->second);
  }
  return {};
}

Status GraphImporter::ConvertNode(const pb::NodeProto& node, const std::map<std::string, int>& opsets,
                                  int index) {
  if (--model_.nodes_left < 0)
    return Unsupported("the model has more than ", kMaxNodes, " nodes once its functions are inlined");
  TERN_TRY(CheckOutputsAreNew(node));
  const std::string domain = CleanDomain(node.domain());
  auto function = model_.functions.find(FunctionKey(domain, node.op_type(), node.overload()));
  if (function != model_.functions.end()) return InlineFunction(node, *function->second, index);
  const Converter* converter = Converters().Find(domain, node.op_type());
  if (!converter)
    return Unsupported("operator ", domain.empty() ? "" : domain + ".", node.op_type(), " of node '",
                       NodeLabel(node), "'");
  TERN_ASSIGN(int opset, OpsetOf(opsets, domain));
  Status status = RunConverter(*converter, node, opset, index);
  if (status.ok()) return RefineOutputs(node);
  // If a node in a body fails, its enclosing nodes fail afterwards. Only the first, innermost failure is
  // diagnosed.
  const bool first = !std::exchange(model_.claims.failed, true);
  if (first && status.code() == Code::kInvalidModel) Diagnose(*converter, node, opset, index);
  return status;
}

Status GraphImporter::RunConverter(const Converter& converter, const pb::NodeProto& node, int opset,
                                   int index) {
  Builder builder(graph_);
  builder.At(NodeLabel(node), StrCat(node.op_type(), ", onnx node #", index));
  OnnxNode view(*this, node, builder, opset);
  for (const std::string& in : node.input())
    if (!in.empty() && !Knows(in))
      return view.Bad("input '", in, "' is not made by any node, initializer or graph input");
  Status converted = converter(view);
  // An attribute of the wrong type is reported first, because it may cause other errors.
  TERN_TRY(Status(builder.status()));
  return converted;
}

Status GraphImporter::InlineFunction(const pb::NodeProto& call, const pb::FunctionProto& function,
                                     int index) {
  if (call.input_size() > function.input_size())
    return InvalidModel("call of function '", function.name(), "' (onnx node #", index, ") has ",
                        call.input_size(), " inputs, but the function has ", function.input_size());
  std::map<std::string, const pb::AttributeProto*> attributes;
  for (const auto& a : function.attribute_proto()) attributes[a.name()] = &a;
  // An attribute of a call may refer to an attribute of the enclosing call.
  for (const auto& a : call.attribute()) {
    if (a.ref_attr_name().empty())
      attributes[a.name()] = &a;
    else if (const auto* outer = CallAttribute(a.ref_attr_name()))
      attributes[a.name()] = outer;
  }
  // A function body can refer only to its own parameters and nodes, so its importer has no outer importer.
  GraphImporter body(model_, graph_, nullptr);
  body.depth_ = depth_ + 1;
  body.call_attributes_ = &attributes;
  for (int i = 0; i < function.input_size(); ++i) {
    const bool given = i < call.input_size() && !call.input(i).empty();
    Value* v = given ? Find(call.input(i)) : nullptr;
    if (given && !Knows(call.input(i)))
      return InvalidModel("call of function '", function.name(), "' (onnx node #", index, "): input '",
                          call.input(i), "' does not exist");
    body.names_[function.input(i)] = v;
  }
  std::map<std::string, int> opsets;
  for (const auto& o : function.opset_import())
    opsets[CleanDomain(o.domain())] = static_cast<int>(o.version());
  TERN_TRY(
      body.AddNodes(function.node(), opsets)
          .While(StrCat("inlining function '", function.name(), "' called by node '", NodeLabel(call), "'")));
  for (int i = 0; i < call.output_size(); ++i) {
    if (call.output(i).empty()) continue;
    Value* v = i < function.output_size() ? body.Find(function.output(i)) : nullptr;
    if (!v) return InvalidModel("function '", function.name(), "' has no output ", i);
    names_[call.output(i)] = v;
  }
  return RefineOutputs(call);
}

Result<std::vector<Value*>> GraphImporter::InlineGraph(const pb::GraphProto& proto,
                                                       const std::vector<Value*>& inputs) {
  if (static_cast<size_t>(proto.input_size()) != inputs.size())
    return InvalidModel("graph '", proto.name(), "' has ", proto.input_size(),
                        " inputs, but its node passes ", inputs.size());
  GraphImporter body(model_, graph_, this);
  for (size_t i = 0; i < inputs.size(); ++i) body.names_[proto.input(static_cast<int>(i)).name()] = inputs[i];
  TERN_TRY(body.AddInitializers(proto, {}));
  TERN_TRY(body.AddNodes(proto.node(), body_opsets_ ? *body_opsets_ : model_.opsets));
  std::vector<Value*> outputs;
  for (const auto& out : proto.output()) {
    Value* v = body.Find(out.name());
    if (!v)
      return InvalidModel("graph '", proto.name(), "': output '", out.name(), "' is not made by any node");
    outputs.push_back(v);
  }
  return outputs;
}

Status GraphImporter::SetOutputs(const pb::GraphProto& proto) {
  std::vector<Value*> outputs;
  std::set<const Value*> taken;
  for (const auto& out : proto.output()) {
    Value* v = Find(out.name());
    if (!v)
      return InvalidModel("graph '", proto.name(), "': output '", out.name(), "' is not made by any node");
    // Each output must be a distinct value with its own name, so an input, a constant or a repeated output is
    // copied.
    const bool own = v->graph == &graph_ && v->producer && taken.insert(v).second;
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
