// Makes valid random graphs. A graph is built from random nodes, or it is a graph of a .rule file with small
// changes. The changed graphs match the patterns of rules or almost match them.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "random.h"

namespace tern {

struct SeedGraph {
  std::string text;
  std::map<std::string, int64_t> symbols;  // sizes with which the graph runs
};

struct RandomGraph {
  std::unique_ptr<Graph> graph;
  std::map<std::string, int64_t> symbols;
};
// The graph of the result is never null.
RandomGraph MakeRandomGraph(uint64_t seed, const std::vector<SeedGraph>& seeds);

// Makes one small change: changes a number, an attribute or an operand, inserts a node, makes a dim open, or
// replaces a constant by an input. The graph may be invalid afterwards.
void MutateGraph(Graph& graph, Random& random);
// Clears the inferred types, so that the next inference does not use them.
void ForgetTypes(Graph& graph);

}  // namespace tern
