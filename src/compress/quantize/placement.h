// Decides which nodes of a graph work on integers, and which values get a grid.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace tern::compress {

// A Conv or MatMul whose weights become integers, with the nodes that later become part of its epilogue: the
// sum with a residual and a Relu or Clip. No value between them has a grid, so that results are rounded once.
struct Layer {
  Node* node = nullptr;
  std::vector<Node*> epilogue;
  Value* result = nullptr;  // the output of the last node

  // Returns the node's name, or "%" and the name of its first output.
  std::string name() const;
};

std::string NameOf(const Node& node);

struct Placement {
  std::vector<Layer> layers;                // in graph order
  std::unordered_set<const Node*> integer;  // all nodes that work on integers
  std::vector<Value*> values;               // values with a grid, in graph order
  std::unordered_map<const Value*, size_t>
      group;  // the group of each of these values; values of one group share a grid
  size_t groups = 0;
  std::map<std::string, std::string> floats;  // layers that stay float, with the reason

  bool HasGrid(const Value* v) const { return group.count(v) > 0; }
};

// `keep` has the names of layers that stay float, with reasons. The graph must be optimized as by
// Quantizer::Make. Unknown names are ignored.
Placement Place(const Graph& graph, const std::map<std::string, std::string>& keep);

// Returns the inputs whose elements the node computes with or moves. Weights, bounds and settings are not
// data.
std::vector<Value*> DataInputs(const Node& node);
// True if the node only selects or reorders elements, so that its operands and results have one grid.
bool OnlyMoves(const Node& node);

}  // namespace tern::compress
