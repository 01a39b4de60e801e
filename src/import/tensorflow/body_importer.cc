#include "import/tensorflow/body_importer.h"

#include <algorithm>

#include "import/tensorflow/control_v1.h"
#include "import/tensorflow/graph_ports.h"

namespace tern::tensorflow {

BodyImporter::BodyImporter(ModelContext& model, const Body& body, Graph& graph, std::string prefix, int depth,
                           BodyImporter* outer)
    : model_(model), body_(body), graph_(graph), prefix_(std::move(prefix)), depth_(depth), outer_(outer) {
  if (!outer) return;
  call_ = outer->call_;
  caller_ = outer->caller_;
}

void BodyImporter::Bind(const std::string& node, int output, Edge edge) {
  auto& outputs = edges_[node];
  if (outputs.size() <= static_cast<size_t>(output)) outputs.resize(static_cast<size_t>(output) + 1);
  outputs[static_cast<size_t>(output)] = std::move(edge);
}

const pb::AttrValue* BodyImporter::CallAttribute(const std::string& name) const {
  if (!call_) return nullptr;
  const auto found = call_->attr().find(name);
  if (found == call_->attr().end()) return nullptr;
  if (found->second.value_case() != pb::AttrValue::kPlaceholder) return &found->second;
  return caller_ ? caller_->CallAttribute(found->second.placeholder()) : nullptr;
}

bool BodyImporter::Done(const std::string& node) const {
  return edges_.count(node) > 0 || (outer_ && outer_->Done(node));
}

Result<Edge*> BodyImporter::Find(const std::string& tensor) {
  TERN_ASSIGN(const TensorName name, ParseTensorName(tensor));
  auto found = edges_.find(name.node);
  if (found == edges_.end() && outer_ && outer_->Done(name.node)) {
    // Returns a copy, because this scope may add a layout to the edge, and the outer scope must not see it.
    TERN_ASSIGN(Edge * edge, outer_->Find(tensor));
    copies_.push_back(*edge);
    return &copies_.back();
  }
  if (found == edges_.end()) return InvalidModel("tensor '", tensor, "' does not exist");
  int index = name.index;
  if (const pb::NodeDef* node = body_.Find(name.node)) {
    TERN_ASSIGN(index, OutputIndex(name, *node, model_.functions));
  }
  if (static_cast<size_t>(index) >= found->second.size() ||
      !found->second[static_cast<size_t>(index)].present())
    return Unsupported("output ", index, " of node '", prefix_, name.node, "' is not available");
  return &found->second[static_cast<size_t>(index)];
}

Result<std::vector<std::string>> BodyImporter::Dependencies(const pb::NodeDef& node) {
  if (IsControlV1(node.op())) return DependenciesV1(*this, node);
  std::vector<std::string> names;
  for (const std::string& input : node.input()) {
    if (IsControl(input) && !control_) continue;
    TERN_ASSIGN(TensorName name, ParseTensorName(input));
    names.push_back(std::move(name.node));
  }
  return names;
}

// Visits the nodes in depth-first order with a stack of its own, because graphs may be deeper than the call
// stack permits.
struct BodyImporter::Visit {
  const pb::NodeDef* node = nullptr;
  std::vector<std::string> needs;
  size_t next = 0;
};

Status BodyImporter::Convert(const std::string& first) {
  std::vector<Visit> stack;
  std::set<std::string, std::less<>> open;
  const auto enter = [&](const std::string& name) -> Status {
    if (Done(name)) return {};
    const pb::NodeDef* node = body_.Find(name);
    if (!node) return InvalidModel("node '", prefix_, name, "' does not exist");
    if (!open.insert(name).second) return InvalidModel("node '", prefix_, name, "' is part of a cycle");
    TERN_ASSIGN(auto needs, Dependencies(*node));
    stack.push_back({node, std::move(needs), 0});
    return {};
  };
  TERN_TRY(enter(first));
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next < top.needs.size()) {
      const std::string name = top.needs[top.next++];
      TERN_TRY(enter(name));
      continue;
    }
    const pb::NodeDef* node = top.node;
    stack.pop_back();
    TERN_TRY(ConvertNode(*node));
    open.erase(node->name());
  }
  return {};
}

Result<std::vector<Edge*>> BodyImporter::InputsOf(const pb::NodeDef& node) {
  std::vector<Edge*> inputs;
  if (IsControlV1(node.op())) return inputs;
  for (const std::string& input : node.input()) {
    if (IsControl(input)) continue;
    auto edge = Find(input);
    if (!edge.ok())
      return Status(edge.status().code(),
                    StrCat("node '", prefix_, node.name(), "' (", node.op(), "): ", edge.status().message()));
    inputs.push_back(*edge);
  }
  return inputs;
}

Status BodyImporter::ConvertNode(const pb::NodeDef& node) {
  if (!model_.nodes.Count())
    return Unsupported("the model has more than ", model_.nodes.most(),
                       " nodes once its functions are inlined");
  TERN_ASSIGN(auto inputs, InputsOf(node));
  Builder builder(graph_);
  builder.At(prefix_ + node.name(), node.op());
  TfNode n(*this, node, std::move(inputs), builder);
  const Converter* converter = Converters().Find(node.op());
  Status status;
  if (IsControlV1(node.op())) {
    status = ConvertV1(*this, n, node);
  } else if (model_.functions.count(node.op())) {
    status = CallFunction(n, node);
  } else if (!converter) {
    return Unsupported("node '", prefix_, node.name(), "': operator ", node.op(), " is not supported");
  } else {
    status = (*converter)(n);
  }
  TERN_TRY(Status(builder.status()));
  TERN_TRY(std::move(status));
  edges_[node.name()] = n.outputs();
  return {};
}

Status BodyImporter::CallFunction(TfNode& n, const pb::NodeDef& node) {
  std::vector<Edge> args;
  for (int i = 0; i < n.InputCount(); ++i) args.push_back(n.At(i));
  TERN_ASSIGN(auto results, Call(node.op(), args, graph_, node.name(), &node));
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<int>(i), results[i]);
  return {};
}

Result<Edge> BodyImporter::Get(const std::string& tensor) {
  TERN_ASSIGN(const TensorName name, ParseTensorName(tensor));
  TERN_TRY(Convert(name.node));
  TERN_ASSIGN(Edge * edge, Find(tensor));
  return *edge;
}

Status BodyImporter::Run(const std::string& node) {
  control_ = true;
  TERN_ASSIGN(const TensorName name, ParseTensorName(node));
  return Convert(name.node);
}

Result<std::vector<Edge>> BodyImporter::Call(const std::string& function, const std::vector<Edge>& args,
                                             Graph& graph, const std::string& label,
                                             const pb::NodeDef* call) {
  const auto found = model_.functions.find(function);
  if (found == model_.functions.end()) return InvalidModel("function '", function, "' does not exist");
  if (depth_ >= kMaxDepth) return Unsupported("function calls are nested more than ", kMaxDepth, " deep");
  const Body& body = found->second;
  const auto& signature = body.function->signature();
  if (args.size() != static_cast<size_t>(signature.input_arg_size()))
    return InvalidModel("function '", function, "' has ", signature.input_arg_size(),
                        " parameters, but a call passes ", args.size());
  BodyImporter inner(model_, body, graph, StrCat(prefix_, label, "/"), depth_ + 1);
  inner.call_ = call;
  inner.caller_ = this;
  for (size_t i = 0; i < args.size(); ++i)
    inner.Bind(signature.input_arg(static_cast<int>(i)).name(), 0, args[i]);
  const std::string place = StrCat("inlining function '", function, "' at '", prefix_, label, "'");
  if (control_)
    for (const auto& [name, node] : body.function->control_ret()) TERN_TRY(inner.Run(node).While(place));
  std::vector<Edge> results;
  for (const auto& arg : signature.output_arg()) {
    const auto ret = body.function->ret().find(arg.name());
    if (ret == body.function->ret().end())
      return InvalidModel("function '", function, "' does not compute '", arg.name(), "'");
    inner.control_ = control_;
    auto edge = inner.Get(ret->second);
    if (!edge.ok()) return edge.TakeStatus().While(place);
    results.push_back(std::move(*edge));
  }
  return results;
}

// Runs the nodes that restore the variables of the model. These nodes only store the keys of the variables.
// ReadVariable reads a value from the file when a node needs it.
Status BodyImporter::Restore() {
  if (model_.restored || model_.restore_node.empty()) return {};
  model_.restored = true;
  BodyImporter main(model_, model_.main, *model_.graph, "", depth_ + 1);
  return main.Run(model_.restore_node).While("restoring the variables");
}

// A graph file does not name the nodes that initialise its tables, so all of them run.
Status BodyImporter::Initialise() {
  if (model_.initialised) return {};
  model_.initialised = true;
  BodyImporter main(model_, model_.main, *model_.graph, "", depth_ + 1);
  TERN_TRY(BindAssets(model_, main));
  if (!model_.init_node.empty()) return main.Run(model_.init_node).While("initialising the tables");
  for (const auto& [name, node] : model_.main.nodes)
    if (node->op().rfind("InitializeTable", 0) == 0 || node->op().rfind("LookupTableImport", 0) == 0)
      TERN_TRY(main.Run(name).While("initialising the tables"));
  return {};
}

Result<Value*> BodyImporter::ReadVariable(Resource& variable) {
  if (variable.kind != Resource::Kind::kVariable)
    return InvalidModel("'", variable.name, "' is not a variable");
  if (variable.value) return variable.value;
  if (!variable.tensor.defined() && variable.key.empty()) TERN_TRY(Restore());
  if (!variable.tensor.defined()) {
    if (!model_.bundle)
      return InvalidModel("variable '", variable.name,
                          "' has no value: the model is not frozen, and its variables are missing");
    if (variable.key.empty()) variable.key = model_.bundle->KeyOf(variable.name);
    if (variable.key.empty())
      return InvalidModel("variable '", variable.name, "' has no value in the variables of the model");
    TERN_ASSIGN(variable.tensor, model_.bundle->Read(variable.key));
  }
  variable.value = model_.graph->AddConstant(variable.tensor, variable.name);
  return variable.value;
}

}  // namespace tern::tensorflow
