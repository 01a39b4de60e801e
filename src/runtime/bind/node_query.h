// Makes the KernelQuery of a node from a graph in text form, for the tests of this folder.
#pragma once
#include "kernel_api/kernel_table.h"
#include "runtime/test_support.h"

namespace tern {

// Parses a graph. Inputs whose names begin with w become constants, and so weights.
inline std::unique_ptr<Graph> ParseNode(const std::string& text) {
  InitOps();
  auto parsed = ParseGraph(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString() << "\n" << text;
  if (!parsed.ok()) return nullptr;
  uint32_t seed = 5;
  const std::vector<Value*> inputs = (*parsed)->inputs();
  for (Value* v : inputs)
    if (v->name[0] == 'w') (*parsed)->InputToConstant(v, Noise(v->type.shape.Concrete(), seed++));
  return std::move(*parsed);
}

// Returns the query of the last node of the graph, whose dims must be concrete. The graph must outlive the
// query.
inline KernelQuery QueryOf(const Graph& graph) {
  const Node& node = *graph.nodes().back();
  KernelQuery query(*node.op, node.attrs);
  const auto info = [](const Value& v) { return TensorInfo{v.type.dtype, v.type.shape.Concrete()}; };
  for (const Value* v : node.inputs()) {
    query.inputs.push_back(v ? info(*v) : TensorInfo());
    query.known.push_back(v && v->is_constant() ? &v->constant : nullptr);
    query.weight.push_back(v && v->is_constant());
  }
  for (const Value* v : node.outputs()) query.outputs.push_back(info(*v));
  return query;
}

}  // namespace tern
