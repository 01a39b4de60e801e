// Describes the metadata and nested graphs of a model, for `tern inspect`.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "data/json_writer.h"
#include "ir/graph.h"

namespace tern::tools {

// Returns the model's opsets, producer, version, description and metadata, one line each. Omits properties
// that the model does not have.
std::string ModelInfoText(const Graph& graph);
// Writes the keys "source", "opsets" and "metadata" with their values. The caller has begun a JSON object
// and ends it.
void WriteModelInfo(const Graph& graph, data::JsonWriter& json);

// A nested graph, such as a branch of If or the body of Loop or Scan.
struct Body {
  const Node* node;
  const Graph* graph;
  std::string role;  // the role of the graph in the node, such as "then"
};
Body BodyOf(const Node& node, size_t index);
// Returns a text such as "then graph (x f32[2]) -> (y f32[2])".
std::string DescribeBody(const Body& body);
// Writes the key "bodies" with a list of all nested graphs, outer graphs before inner graphs. Returns the
// index of each graph in the list.
std::map<const Graph*, int64_t> WriteBodies(const Graph& graph, data::JsonWriter& json);

}  // namespace tern::tools
