// Metadata and nested graphs of a model, for `tern inspect`.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "data/json_writer.h"
#include "ir/graph.h"

namespace tern::tools {

// Returns opsets, producer, version, description and metadata, one line each, or "" for a model without them.
std::string ModelInfoText(const Graph& graph);
// Writes the members "source", "opsets" and "metadata".
void WriteModelInfo(const Graph& graph, data::JsonWriter& json);

// A nested graph: a branch of If, the body of Loop or Scan.
struct Body {
  const Node* node;
  const Graph* graph;
  std::string role;  // "then"
};
Body BodyOf(const Node& node, size_t index);
// "then graph (x f32[2]) -> (y f32[2])"
std::string Describe(const Body& body);
// Writes the member "bodies" with all nested graphs, outer before inner. Returns the index of each in that
// list.
std::map<const Graph*, int64_t> WriteBodies(const Graph& graph, data::JsonWriter& json);

}  // namespace tern::tools
