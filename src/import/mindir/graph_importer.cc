#include "import/mindir/graph_importer.h"

#include "import/mindir/attribute.h"

namespace tern::mindir {
namespace {

constexpr std::string_view kReference = "REF::";
constexpr std::string_view kSignature = "S-Prim-";  // precedes primitives that convert their arguments

std::string DescribeNode(const pb::NodeProto& node, const std::string& op) {
  return StrCat("node '", node.domain().empty() ? ShortName(node.name()) : node.domain(), "' (", op, ")");
}

// Names the values of a result that have no name yet.
void NameValues(const Item& item, const std::string& name, const Graph& graph) {
  if (item.is(Item::Kind::kValue) && item.value->name.empty() && item.value->graph == &graph)
    item.value->name = name;
  if (!item.is(Item::Kind::kTuple)) return;
  for (size_t i = 0; i < item.size(); ++i) NameValues(item[i], StrCat(name, ".", i), graph);
}

// Casts a result to the element type that MindSpore declares for it, such as the type of indices, which
// differs between versions. Sizes that inference does not find are taken from the declaration.
Status ApplyDeclared(Builder& b, const pb::AttributeProto& declared, Item& item) {
  if (item.is(Item::Kind::kTuple) && declared.values_size() == static_cast<int>(item.size())) {
    std::vector<Item> items = *item.items;
    for (size_t i = 0; i < items.size(); ++i)
      TERN_TRY(ApplyDeclared(b, declared.values(static_cast<int>(i)), items[i]));
    item.items = std::make_shared<const std::vector<Item>>(std::move(items));
    return {};
  }
  if (!item.is(Item::Kind::kValue) || item.number || declared.type() != pb::AttributeProto::TENSORS ||
      declared.tensors_size() != 1)
    return {};
  const auto type = TypeFromMindir(declared.tensors(0), "");
  const DType found = item.value->type.dtype;
  if (!type.ok() || found == DType::kInvalid || type->dtype == DType::kString || IsComplex(type->dtype))
    return {};
  if (found != type->dtype && !item.value->is_constant())
    item.value = b.Op("Cast", {item.value}, {{"to", type->dtype}});
  if (item.value->producer) RefineType(item.value->type, *type);
  return b.status();
}

const pb::AttributeProto* DeclaredType(const pb::NodeProto& node) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "shape" && !attribute.has_ref_attr_name()) return &attribute;
  return nullptr;
}

}  // namespace

std::string ShortName(const std::string& name) {
  const size_t colon = name.find(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

PrimitiveOf FindPrimitive(const ModelContext& context, const pb::NodeProto& node) {
  const std::string& op = node.op_type();
  if (!StartsWith(op, kReference))
    return {StartsWith(op, kSignature) ? op.substr(kSignature.size()) : op, nullptr};
  const auto it = context.primitives.find(op.substr(kReference.size()));
  if (it == context.primitives.end()) return {};
  const std::string& type = it->second->op_type();
  return {StartsWith(type, kSignature) ? type.substr(kSignature.size()) : type, it->second};
}

Result<Item> GraphImporter::FindConstant(const std::string& name) {
  if (const auto it = context_.items.find(name); it != context_.items.end()) return it->second;
  const auto node = context_.constants.find(name);
  if (node == context_.constants.end()) return InvalidModel("'", name, "' does not exist");
  if (node->second->attribute_size() == 0) return InvalidModel("constant '", name, "' has no value");
  auto item = ItemFromAttribute(node->second->attribute(0), context_.files.get());
  if (!item.ok()) return item.TakeStatus().While(StrCat("reading constant '", name, "'"));
  // A larger tensor is added to the main graph, where all graphs can use it.
  if (item->is(Item::Kind::kConstant) && item->constant.size() > 1) {
    const GraphImporter* main = this;
    while (main->caller_) main = main->caller_;
    *item = Item::Of(main->graph_.AddConstant(item->constant, ShortName(name)));
  }
  return context_.items[name] = *item;
}

Result<Item> GraphImporter::Find(const std::string& name) {
  for (const GraphImporter* g = this; g; g = g->caller_) {
    const auto it = g->names_.find(name);
    if (it != g->names_.end()) return it->second;
  }
  Item item;
  item.kind = Item::Kind::kFunction;
  if (const auto f = context_.functions.find(name); f != context_.functions.end()) {
    item.graph = f->second;
    return item;
  }
  if (const auto p = context_.primitives.find(name); p != context_.primitives.end()) {
    item.primitive = p->second;
    return item;
  }
  return FindConstant(name);
}

Result<const Attributes*> GraphImporter::AttributesOf(const pb::NodeProto& node,
                                                      const PrimitiveOf& primitive) {
  const void* key = primitive.proto ? static_cast<const void*>(primitive.proto) : &node;
  const auto [it, fresh] = context_.attributes.emplace(key, Attributes());
  if (!fresh) return &it->second;
  const auto& protos = primitive.proto ? primitive.proto->attribute() : node.attribute();
  for (const auto& proto : protos) {
    if (!primitive.proto && StartsWith(proto.ref_attr_name(), "shape:")) continue;  // the type of the result
    auto item = ItemFromAttribute(proto, context_.files.get());
    // Attributes that no converter reads may have forms that Tern does not know.
    it->second[proto.name()] = item.ok() ? *item : Item::Text("an attribute that Tern cannot read");
  }
  return &it->second;
}

Result<Item> GraphImporter::RunPrimitive(const std::string& op, const Attributes& attributes,
                                         std::vector<Item> inputs, const pb::NodeProto& node, int index) {
  const Converter* converter = Converters().Find(op);
  if (!converter) return Unsupported("primitive ", op, " of ", DescribeNode(node, op));
  Builder builder(graph_);
  builder.At(node.domain().empty() ? ShortName(node.name()) : node.domain(),
             StrCat(op, ", mindir node #", index));
  MindNode view(builder, op, DescribeNode(node, op), std::move(inputs), attributes);
  Status converted = (*converter)(view);
  // An argument of the wrong kind is reported first, because it may cause other errors.
  TERN_TRY(Status(builder.status()));
  TERN_TRY(std::move(converted));
  if (const auto* declared = DeclaredType(node)) TERN_TRY(ApplyDeclared(builder, *declared, view.result()));
  return view.result();
}

Result<Item> GraphImporter::ConvertNode(const pb::NodeProto& node, int index) {
  if (--context_.nodes_left < 0)
    return Unsupported("the model has more than ", kMaxNodes, " nodes once its functions are inlined");
  std::vector<Item> inputs;
  for (const std::string& name : node.input()) {
    auto item = Find(name);
    if (!item.ok())
      return item.TakeStatus().While(StrCat("reading the inputs of ", DescribeNode(node, node.op_type())));
    inputs.push_back(std::move(*item));
  }
  const PrimitiveOf primitive = FindPrimitive(context_, node);
  if (primitive.name.empty()) {
    if (!StartsWith(node.op_type(), kReference))
      return InvalidModel("node #", index, " '", node.name(), "' has no primitive");
    TERN_ASSIGN(Item callee, Find(node.op_type().substr(kReference.size())));
    if (!stop_at_.empty() && node.output(0) == stop_at_ && callee.is(Item::Kind::kSwitch))
      return BindSwitch(callee, inputs);
    return CallItem(callee, inputs, node, index);
  }
  TERN_ASSIGN(const Attributes* attributes, AttributesOf(node, primitive));
  return RunPrimitive(primitive.name, *attributes, std::move(inputs), node, index);
}

Result<Item> GraphImporter::RunNodes(const pb::GraphProto& proto) {
  for (int i = 0; i < proto.node_size(); ++i) {
    const pb::NodeProto& node = proto.node(i);
    if (node.op_type() == "Constant") continue;
    if (node.output_size() != 1)
      return InvalidModel("node #", i, " '", node.name(), "' has ", node.output_size(),
                          " outputs, but must have 1");
    TERN_ASSIGN(Item item, ConvertNode(node, i));
    if (item.depth > kMaxItemDepth || item.leaves > kMaxLeaves)
      return Unsupported("node #", i, " '", node.name(), "' is a tuple that is nested deeper than ",
                         kMaxItemDepth, " or has more than ", kMaxLeaves, " elements");
    NameValues(item, ShortName(node.output(0)), graph_);
    names_[node.output(0)] = std::move(item);
  }
  std::vector<Item> outputs;
  for (const auto& output : proto.output()) {
    TERN_ASSIGN(Item item, Find(output.name()));
    outputs.push_back(std::move(item));
  }
  if (outputs.empty()) return InvalidModel("graph '", proto.name(), "' has no output");
  return outputs.size() == 1 ? outputs[0] : Item::Tuple(std::move(outputs));
}

// If a call omits an argument, the function's input is the parameter of the main graph with the same key.
Status GraphImporter::BindArguments(const pb::GraphProto& function, const std::vector<Item>& arguments) {
  if (arguments.size() > static_cast<size_t>(function.input_size()))
    return InvalidModel("function '", function.name(), "' has ", function.input_size(),
                        " inputs, but is called with ", arguments.size());
  for (int i = 0; i < function.input_size(); ++i) {
    const auto& input = function.input(i);
    if (static_cast<size_t>(i) < arguments.size()) {
      names_[input.name()] = arguments[static_cast<size_t>(i)];
      continue;
    }
    const std::string key = input.tensor_size() ? input.tensor(0).ref_key() : std::string();
    auto item = Find(StrCat(context_.model->graph().name(), ":", key));
    if (key.empty() || !item.ok())
      return InvalidModel("function '", function.name(), "' is called without its input '", input.name(),
                          "'");
    names_[input.name()] = *item;
  }
  for (int i = 0; i < function.parameter_size(); ++i)
    if (!Find(function.parameter(i).name()).ok())
      return Unsupported("function '", function.name(), "' has parameters of its own");
  return {};
}

Result<Item> GraphImporter::Call(const pb::GraphProto& function, const std::vector<Item>& arguments,
                                 const pb::NodeProto& call, int index) {
  if (depth_ > kMaxDepth)
    return Unsupported("function calls nest deeper than ", kMaxDepth, ", at function '", function.name(),
                       "'");
  for (const auto* loop : context_.loops)
    if (loop == &function) {
      Item again = Item::Tuple(arguments, Item::Kind::kCallAgain);
      again.graph = &function;
      return again;
    }
  if (StartsLoop(function)) return CallLoop(function, arguments, call, index);
  GraphImporter body(context_, graph_, this);
  TERN_TRY(body.BindArguments(function, arguments));
  return body.RunNodes(function);
}

Result<Item> GraphImporter::CallItem(const Item& callee, const std::vector<Item>& arguments,
                                     const pb::NodeProto& call, int index) {
  if (callee.is(Item::Kind::kSwitch)) return CallSwitch(callee, arguments, call, index);
  if (!callee.is(Item::Kind::kFunction))
    return InvalidModel("node '", call.name(), "' calls '", call.op_type(), "', which is ",
                        callee.Describe());
  std::vector<Item> all;
  for (size_t i = 0; i < callee.size(); ++i) all.push_back(callee[i]);
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (callee.graph) return Call(*callee.graph, all, call, index);
  TERN_ASSIGN(const Attributes* attributes,
              AttributesOf(call, {callee.primitive->op_type(), callee.primitive}));
  return RunPrimitive(callee.primitive->op_type(), *attributes, std::move(all), call, index);
}

}  // namespace tern::mindir
