#include "compress/first_reader.h"

#include <algorithm>

namespace tern::compress {

Node* FirstReader(const Graph& graph, const Value& v) {
  for (const auto& node : graph.nodes()) {
    for (const Value* input : node->inputs())
      if (input == &v) return node.get();
    for (const auto& body : node->subgraphs()) {
      const std::vector<Value*> captured = body->Captures();
      if (std::find(captured.begin(), captured.end(), &v) != captured.end()) return node.get();
    }
  }
  return nullptr;
}

}  // namespace tern::compress
