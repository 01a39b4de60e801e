#include "passes/batch/symbols.h"

#include <set>

namespace tern {
namespace {

void AddSymbols(const Graph& graph, std::set<std::string>& names) {
  for (const auto& v : graph.values()) {
    std::vector<std::string> found;
    for (const Dim& d : v->type.shape.dims) d.CollectSymbols(found);
    names.insert(found.begin(), found.end());
  }
  for (const auto& node : graph.nodes())
    for (const auto& body : node->subgraphs()) AddSymbols(*body, names);
}

Type WithUnknownDims(Type type) {
  for (Dim& d : type.shape.dims) d = Dim::Unknown();
  if (type.element) type.element = std::make_shared<const Type>(WithUnknownDims(*type.element));
  return type;
}

}  // namespace

std::string FreshSymbol(const Graph& graph, std::string name) {
  std::set<std::string> taken;
  AddSymbols(graph, taken);
  while (taken.count(name)) name += "_";
  return name;
}

void ForgetDims(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (Value* v : node->outputs()) {
      v->type = WithUnknownDims(v->type);
      v->content.reset();
    }
    for (const auto& body : node->subgraphs()) {
      for (Value* v : body->inputs()) v->type = WithUnknownDims(v->type);
      ForgetDims(*body);
    }
  }
}

}  // namespace tern
