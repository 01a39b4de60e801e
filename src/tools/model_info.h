// What a model says about itself, and the graphs inside of its nodes: parts of `tern inspect`.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "data/json_writer.h"
#include "ir/graph.h"

namespace tern::tools {

// Opsets, producer, version, description and metadata, a line each; "" for a model that says nothing.
std::string ModelInfoText(const Graph& graph);
// The members "source", "opsets" and "metadata".
void WriteModelInfo(const Graph& graph, data::JsonWriter& json);

// A graph inside of a node: the branches of If, the bodies of Loop and Scan.
struct Body {
  const Node* node;
  const Graph* graph;
  std::string role;  // "then"
};
Body BodyOf(const Node& node, size_t index);
// "then graph (x f32[2]) -> (y f32[2])"
std::string Describe(const Body& body);
// The member "bodies": all of them, outer before inner. Gives the index of each in that list.
std::map<const Graph*, int64_t> WriteBodies(const Graph& graph, data::JsonWriter& json);

}  // namespace tern::tools
