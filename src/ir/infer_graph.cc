// Type inference over whole graphs.
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

// A subgraph's inputs take the types the op passes; where it passes less than was declared, the declared stay.
Result<std::vector<Type>> InferSubgraph(Node& node, int index, const std::vector<Type>& inputs) {
  Graph& sub = *node.subgraphs()[static_cast<size_t>(index)];
  for (size_t i = 0; i < inputs.size() && i < sub.inputs().size(); ++i)
    if (inputs[i].kind != Type::Kind::kUnknown) sub.inputs()[i]->type = inputs[i];
  TERN_TRY(InferGraph(sub).While(StrCat("inferring the ", node.op->subgraphs.at(static_cast<size_t>(index) % node.op->subgraphs.size()), " graph of ", node.Describe())));
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
