// Infers the types of entire graphs.
#include "ir/graph.h"

namespace tern {
namespace {

InferInput InputOf(const Value* v) {
  InferInput in;
  if (!v) return in;
  in.present = true;
  in.type = v->type;
  in.constant = v->constant;
  in.content = v->content;
  return in;
}

// Returns true if `now` has all the information that `before` has.
bool Keeps(const Type& before, const Type& now) {
  if (before.kind == Type::Kind::kUnknown) return true;
  if (before.kind != now.kind || (before.dtype != now.dtype && before.dtype != DType::kInvalid)) return false;
  if (before.element) return now.element && Keeps(*before.element, *now.element);
  if (!before.shape.ranked) return true;
  if (before.shape.rank() != now.shape.rank()) return false;
  for (size_t i = 0; i < before.shape.dims.size(); ++i)
    if (!before.shape.dims[i].unknown() && !(before.shape.dims[i] == now.shape.dims[i])) return false;
  return true;
}

Type WithoutShapes(Type type) {
  type.shape = Shape();
  if (type.element) type.element = std::make_shared<const Type>(WithoutShapes(*type.element));
  return type;
}

// Clears inferred shapes. Otherwise inference would treat shapes that were inferred for more specific
// inputs as declared shapes.
void ForgetShapes(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (Value* v : node->outputs()) {
      v->type = WithoutShapes(v->type);
      v->content.reset();
    }
    for (const auto& sub : node->subgraphs()) ForgetShapes(*sub);
  }
}

// Infers the types of a subgraph. The inputs of the subgraph get the types that the op passes. If the op
// passes an unknown type for an input, the input keeps its declared type.
Result<std::vector<Type>> InferSubgraph(Node& node, int index, const std::vector<Type>& inputs) {
  if (static_cast<size_t>(index) >= node.subgraphs().size())
    return InvalidModel("has ", node.subgraphs().size(), " graphs, but needs ", node.op->subgraphs.size());
  Graph& sub = *node.subgraphs()[static_cast<size_t>(index)];
  if (inputs.size() != sub.inputs().size())
    return InvalidModel("its graph '", sub.name, "' takes ", sub.inputs().size(), " inputs, but is given ",
                        inputs.size());
  bool wider = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == Type::Kind::kUnknown) continue;
    wider |= !Keeps(sub.inputs()[i]->type, inputs[i]);
    sub.inputs()[i]->type = inputs[i];
  }
  if (wider) ForgetShapes(sub);
  TERN_TRY(InferGraph(sub).While(
      StrCat("inferring the ", node.op->subgraphs.at(static_cast<size_t>(index) % node.op->subgraphs.size()),
             " graph of ", node.Describe())));
  std::vector<Type> types;
  for (const Value* v : sub.outputs()) types.push_back(v->type);
  return types;
}

}  // namespace

Status InferNode(Node& node) {
  std::vector<InferInput> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(InputOf(v));
  InferContext context(*node.op, std::move(inputs), static_cast<int>(node.outputs().size()),
                       [&](int i, const std::vector<Type>& types) { return InferSubgraph(node, i, types); });
  Status status = RunInfer(*node.op, node.attrs, context);
  if (!status.ok()) {
    Status named(status.code(), StrCat(node.Describe(), ": ", status.message()));
    return named;
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value& v = *node.outputs()[i];
    InferOutput& out = context.outputs()[i];
    RefineType(out.type, v.type);
    v.type = std::move(out.type);
    v.content = std::move(out.content);
  }
  return {};
}

Status InferGraph(Graph& graph) {
  for (const auto& node : graph.nodes()) TERN_TRY(InferNode(*node));
  return {};
}

}  // namespace tern
