// Imports the inputs, parameters and outputs of the main graph.
#include "import/mindir/graph_importer.h"

namespace tern::mindir {
namespace {

using A = pb::AttributeProto;

// Adds the inputs that a declared type stands for. This is one input for a tensor, and one input per element
// for a tuple.
Result<Item> AddInput(Graph& graph, const A& info, const std::string& name) {
  if (info.type() == A::UMONAD || info.type() == A::IOMONAD) return Item::Monad();
  if (info.type() == A::TUPLE || info.type() == A::LIST) {
    std::vector<Item> items;
    for (int i = 0; i < info.values_size(); ++i) {
      TERN_ASSIGN(Item item, AddInput(graph, info.values(i), StrCat(name, "_", i)));
      items.push_back(std::move(item));
    }
    return Item::Tuple(std::move(items));
  }
  if (info.tensors_size() == 0) return Unsupported("input '", name, "' is not a tensor");
  auto type = TypeFromMindir(info.tensors(0), name);
  if (!type.ok()) return type.TakeStatus().While(StrCat("reading input '", name, "'"));
  Item item = Item::Of(graph.AddInput(name, std::move(*type)));
  item.number = info.type() == A::SCALAR;
  return item;
}

}  // namespace

Status GraphImporter::AddInputs(const pb::GraphProto& proto) {
  std::set<std::string> taken;
  for (const auto& input : proto.input()) {
    const std::string name = ShortName(input.name());
    if (!taken.insert(name).second) return InvalidModel("two inputs are named '", name, "'");
    A info = input.attr_info();
    if (input.denotation() == "UMonadType" || input.denotation() == "IOMonadType") info.set_type(A::UMONAD);
    if (input.tensor_size()) {
      info.set_type(A::TENSORS);
      *info.add_tensors() = input.tensor(0);
    }
    TERN_ASSIGN(names_[input.name()], AddInput(graph_, info, name));
  }
  return {};
}

Status GraphImporter::AddParameters(const pb::GraphProto& proto) {
  if (proto.map_parameter_size())
    return Unsupported("the model has ", proto.map_parameter_size(), " map parameters");
  for (const auto& parameter : proto.parameter()) {
    const auto data = context_.data.find(&parameter);
    const bool moved = data != context_.data.end();
    TERN_ASSIGN(Tensor tensor, moved ? TensorFromBytes(parameter, data->second, context_.files != nullptr)
                                     : TensorFromMindir(parameter, context_.files.get()));
    const std::string name = parameter.ref_key().empty() ? ShortName(parameter.name()) : parameter.ref_key();
    names_[parameter.name()] = Item::Of(graph_.AddConstant(std::move(tensor), name));
  }
  return {};
}

// Each output must be a distinct value with a name of its own, so an input, a constant or a repeated output
// is copied.
Status GraphImporter::SetOutputs(const Item& result, const pb::GraphProto& proto) {
  Builder b(graph_);
  const std::string name = ShortName(proto.output(0).name());
  b.At(name, "graph output");
  std::vector<Value*> outputs;
  TERN_TRY(Flatten(result, b, outputs));
  if (outputs.empty())
    return Unsupported("the result of the model is ", result.Describe(), " without tensors");
  std::set<std::string> taken;
  for (const Value* input : graph_.inputs()) taken.insert(input->name);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value*& v = outputs[i];
    const bool own = v->graph == &graph_ && v->producer;
    if (own && outputs.size() == 1) v->name = name;
    if (own && !v->name.empty() && taken.insert(v->name).second) continue;
    v = b.Op("Identity", {v});
    TERN_TRY(Status(b.status()));
    v->name = outputs.size() == 1 ? name : StrCat(name, ".", i);
    while (!taken.insert(v->name).second) v->name += "_";
  }
  graph_.SetOutputs(std::move(outputs));
  return {};
}

Status GraphImporter::ImportMain(const pb::GraphProto& proto) {
  TERN_TRY(AddInputs(proto));
  TERN_TRY(AddParameters(proto));
  TERN_ASSIGN(Item result, RunNodes(proto));
  return SetOutputs(result, proto);
}

}  // namespace tern::mindir
